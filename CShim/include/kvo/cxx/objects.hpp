/* objects.hpp - the base class of objects, and their classes. Part of kvo.hpp. */
#ifndef KVO_CXX_OBJECTS_HPP
#define KVO_CXX_OBJECTS_HPP

#include <kvo/cxx/errors.hpp>
#include <kvo/kvo_raw.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

namespace kvo {

namespace detail {

/** The operations on the values of properties of one type. */
struct operations {
  kvo_value_ops ops;
  const char *(*encoding)();
  std::uint32_t flags;
};

/** A property of a class: the `user` of its kvo_property. Exists for ever, as classes do. */
struct member {
  std::string name;
  kvo_key key;
  /** From the object's header to the kvo::property, whose address in one object is `address`. */
  std::ptrdiff_t offset;
  const void *address;
  const operations *functions;
};

/** A C++ class that has been registered. The modules of a process have one list of them, whichever version of kvo.hpp each was built with:
 * this structure never changes. */
struct known_class {
  const kvo_class *registered;
  const known_class *next;
};
inline KVO_API std::atomic<const known_class *> known_classes{nullptr};

} // namespace detail

/** A key path, as a pointer to characters or a std::string. For parameters: it refers to the characters. */
class path {
public:
  /** The key path in these characters. */
  path(const char *key_path) noexcept : characters_(key_path) {}
  /** The key path in this string. */
  path(const std::string &key_path) noexcept : characters_(key_path.c_str()) {}
  /** The characters, which end with NUL. */
  const char *c_str() const noexcept { return characters_; }

private:
  const char *characters_;
};

class token;
class type;
template <class T> class property;

/** The base class of objects that can be observed. Derived classes name their properties with KVO_PROPERTIES. Objects are not copied or
 * moved, because observers know their address. Neither this class nor one that has it is a virtual base of a class with KVO_PROPERTIES:
 * the properties have to be at the same place in all objects of a class. */
class KVO_API object {
public:
  object(const object &) = delete;
  object &operator=(const object &) = delete;

  /** The object as the functions of kvo.h take it. The first call gives the object its class: within a constructor, that of the
   * constructor. So observe objects whose constructors have returned. */
  kvo_object *kvo() const;

  /** The C++ object of a header; nullptr for NULL and for an object that is not derived from this class. A program in C++ that uses
   * kvo.hpp and its plug-ins know the classes of each other if the program exports its symbols (-rdynamic; ENABLE_EXPORTS in CMake).
   * Otherwise, also if the program is in C, each may know only its own; plug-ins know those of one that was opened before them with
   * RTLD_GLOBAL, and it knows theirs. */
  static object *from(kvo_object *header) noexcept;

  /** The class of the object; KVO_PROPERTIES overrides it. */
  virtual const type *kvo_type() const = 0;

protected:
  object() noexcept = default;
  virtual ~object() { kvo_object_finish(&header_, nullptr, 0); }

private:
  template <class T> friend class property;
  friend class type;
  friend class ending;
  /** The object of a header that may have no class yet. */
  static object *around(kvo_object *header) noexcept;
  mutable kvo_object header_{};
};

inline const type *object::kvo_type() const { return nullptr; }

inline object *object::around(kvo_object *header) noexcept {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Winvalid-offsetof"
  return reinterpret_cast<object *>(reinterpret_cast<char *>(header) - offsetof(object, header_));
#pragma GCC diagnostic pop
}

/** A class of C++ objects, registered with libkvo when its first object is observed or passed to C. Never destroyed: objects may be used
 * until the program has exited. */
class KVO_API type {
public:
  /** For KVO_PROPERTIES. `owner` is any object of the class. */
  type(const char *name, const type *base, const object *owner, std::vector<detail::member> members)
      : members_(std::move(members)) {
    const char *header = reinterpret_cast<const char *>(&owner->header_);
    std::vector<kvo_raw_property> properties;
    for (detail::member &each : members_) {
      refuse_inherited(name, base, each.name);
      each.key = kvo_key_hash(each.name.data(), each.name.size());
      each.offset = static_cast<const char *>(each.address) - header;
      kvo_raw_property property{};
      property.name = each.name.c_str();
      property.type = each.functions->encoding();
      property.ops = &each.functions->ops;
      property.user = &each;
      property.flags = each.functions->flags;
      properties.push_back(property);
    }
    kvo_raw_class described{};
    described.struct_size = sizeof described;
    described.name = name;
    described.superclass = base != nullptr ? base->registered_ : nullptr;
    described.header_offset = static_cast<std::size_t>(header - reinterpret_cast<const char *>(owner));
    described.properties = properties.data();
    described.property_count = properties.size();
    described.property_size = sizeof(kvo_raw_property);
    detail::check(kvo_raw_class_register(&described, &registered_), name);
    known_.registered = registered_;
    known_.next = detail::known_classes.load();
    while (!detail::known_classes.compare_exchange_weak(known_.next, &known_)) {}
  }
  type(const type &) = delete;

  /** The class in C. */
  kvo_class *registered() const noexcept { return registered_; }

  /** Whether a C++ class has been registered as this. */
  static bool is_known(const kvo_class *registered) noexcept {
    for (const detail::known_class *each = detail::known_classes.load(); each != nullptr; each = each->next)
      if (each->registered == registered) return true;
    return false;
  }

private:
  /** C would take it for the inherited property, described anew, and the one in the base class would have no key. */
  static void refuse_inherited(const char *name, const type *base, const std::string &property) {
    if (base == nullptr || kvo_class_property(base->registered_, property.c_str()) == nullptr) return;
    detail::raise(error(KVO_ERROR_DUPLICATE_KEY, "KVO_PROPERTIES: \"" + property + "\" of " + name +
                                                     " has the name of a property of " +
                                                     kvo_class_name(base->registered_)));
  }

  std::vector<detail::member> members_;
  kvo_class *registered_ = nullptr;
  detail::known_class known_{};
};

inline kvo_object *object::kvo() const {
  if (__atomic_load_n(&header_.kvo_private_word, __ATOMIC_ACQUIRE) == 0)
    kvo_object_adopt(&header_, kvo_type()->registered());
  return &header_;
}

namespace detail {

/** An object of any language, as C takes it. */
inline kvo_object *header_of(kvo_object *object) noexcept { return object; }
inline kvo_object *header_of(const object &object) { return object.kvo(); }

} // namespace detail

inline object *object::from(kvo_object *header) noexcept {
  if (header == nullptr || !type::is_known(kvo_object_class(header))) return nullptr;
  return static_cast<object *>(kvo_object_instance(header));
}

/** For KVO_PROPERTIES: ends the observations of an object before the members that are declared above it are destroyed. */
class ending {
public:
  /** `owner` is the object that has it as a member. */
  explicit ending(object *owner) noexcept : owner_(owner) {}
  ~ending() { kvo_object_finish(&owner_->header_, nullptr, 0); }
  ending(const ending &) = delete;
  ending &operator=(const ending &) = delete;

private:
  object *owner_;
};

} // namespace kvo

#endif /* KVO_CXX_OBJECTS_HPP */
