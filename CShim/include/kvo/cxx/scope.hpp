/* scope.hpp - stretches of code whose changes are delivered once at the end, or not at all: kvo_scope.h for C++. Part of kvo.hpp. */
#ifndef KVO_CXX_SCOPE_HPP
#define KVO_CXX_SCOPE_HPP

#include <kvo/cxx/objects.hpp>
#include <kvo/kvo_scope.h>

#include <array>

namespace kvo {

/** Until the end of its block, coalesces or silences the changes that this thread makes of some objects, or, without any, of all:
 * `kvo::scope together(document, author);` notifies at the end of the block, once for each property that was set, with the value from
 * before as the old one. A local variable. What kvo_scope_begin says about the objects, and about values that are kept, holds. */
class [[nodiscard]] scope {
public:
  /** Coalesces the changes of these objects: each a kvo::object or a kvo_object *. */
  template <class... Objects> explicit scope(const Objects &...objects) : scope(KVO_SCOPE_COALESCES, objects...) {}
  /** Does with them what the kind says. Throws kvo::error as kvo_scope_begin fails. */
  template <class... Objects> explicit scope(kvo_scope_kind kind, const Objects &...objects) {
    constexpr std::size_t count = sizeof...(Objects);
    const std::array<kvo_object *, count> headers{detail::header_of(objects)...};
    detail::check(kvo_scope_begin(&scope_, kind, count != 0 ? headers.data() : nullptr, count, nullptr, 0),
                  "kvo_scope_begin");
  }
  /** Notifies. A thread may end in an observer that this calls. */
  ~scope() noexcept(false) { kvo_scope_end(&scope_); }
  scope(const scope &) = delete;
  scope &operator=(const scope &) = delete;

private:
  kvo_scope scope_;
};

} // namespace kvo

#endif /* KVO_CXX_SCOPE_HPP */
