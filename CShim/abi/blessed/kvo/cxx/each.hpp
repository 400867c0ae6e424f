/* each.hpp - a macro for each of its arguments. Part of kvo.hpp. */
#ifndef KVO_CXX_EACH_HPP
#define KVO_CXX_EACH_HPP

/* M(C, A) for each A of the arguments that follow, some hundred at most. Two macros name each other in turn, so that neither is within
 * itself; each time that the text is scanned again, one more argument is taken. After the last come (): the end. */
#define KVO_FOR_EACH(M, C, ...) KVO_SCAN(KVO_EACH_1(M, C, __VA_ARGS__, ()()(), ()()(), ()()(), 0))
#define KVO_EACH_1(M, C, A, next, ...) M(C, A) KVO_EACH_GO(next, KVO_EACH_2)(M, C, next, __VA_ARGS__)
#define KVO_EACH_2(M, C, A, next, ...) M(C, A) KVO_EACH_GO(next, KVO_EACH_1)(M, C, next, __VA_ARGS__)
#define KVO_EACH_GO(next, more) KVO_EACH_PICK(KVO_EACH_END next, more)
#define KVO_EACH_PICK(end, more) KVO_EACH_SECOND(end, more, 0)
#define KVO_EACH_SECOND(first, second, ...) second KVO_EACH_NOTHING
#define KVO_EACH_NOTHING
#define KVO_EACH_END(...) KVO_EACH_END_1
#define KVO_EACH_END_1(...) KVO_EACH_END_2
#define KVO_EACH_END_2() 0, KVO_EACH_SKIP
#define KVO_EACH_SKIP(...)
#define KVO_SCAN(...) KVO_SCAN_1(KVO_SCAN_1(KVO_SCAN_1(__VA_ARGS__)))
#define KVO_SCAN_1(...) KVO_SCAN_2(KVO_SCAN_2(KVO_SCAN_2(__VA_ARGS__)))
#define KVO_SCAN_2(...) KVO_SCAN_3(KVO_SCAN_3(KVO_SCAN_3(__VA_ARGS__)))
#define KVO_SCAN_3(...) KVO_SCAN_4(KVO_SCAN_4(KVO_SCAN_4(__VA_ARGS__)))
#define KVO_SCAN_4(...) KVO_SCAN_5(KVO_SCAN_5(KVO_SCAN_5(__VA_ARGS__)))
#define KVO_SCAN_5(...) __VA_ARGS__

#endif /* KVO_CXX_EACH_HPP */
