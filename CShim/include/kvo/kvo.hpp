/* kvo.hpp - libkvo for C++17: classes whose members are observed and bound, observations that end with their token, and values as C++
 * types.
 *
 *     struct Document : kvo::object {
 *       kvo::property<double> zoom{this, 1.0};
 *       kvo::property<std::string> title{this, "Untitled"};
 *       KVO_PROPERTIES(Document, kvo::object, zoom, title)
 *     };
 *
 *     Document document;
 *     kvo::token token = kvo::observe(document, &Document::zoom, [](const kvo::change<double> &change) {
 *       std::cout << *change.old_value << " -> " << *change.new_value << '\n';
 *     });
 *     document.zoom = 2.0;
 *     kvo::token bound = kvo::bind(label, &Label::text, document, &Document::title);
 *
 * C code, and code in other languages, sees such objects through kvo.h as those of any other class: observers by key path, key-value coding
 * and graphs work. The header needs only libkvo. Threads and locks are as in kvo.h: notifications are safe on any thread; a property that
 * several threads use needs a lock of the program.
 *
 * Errors: a function that fails throws kvo::error, unless it says otherwise; with -fno-exceptions it prints the error and aborts. Misuse
 * is a fault, as in C. An exception never leaves an observer: see kvo::set_exception_handler. All of it is our decision.
 */
#ifndef KVO_HPP
#define KVO_HPP

#include <kvo/cxx/bindings.hpp>
#include <kvo/cxx/coding.hpp>
#include <kvo/cxx/observations.hpp>
#include <kvo/cxx/operators.hpp>
#include <kvo/cxx/scope.hpp>

#endif /* KVO_HPP */
