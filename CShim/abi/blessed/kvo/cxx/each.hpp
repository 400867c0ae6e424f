/* each.hpp - a macro for each of its arguments. Part of kvo.hpp. */
#ifndef KVO_CXX_EACH_HPP
#define KVO_CXX_EACH_HPP

/* M(C, A) for each A of the arguments that follow, at most 32. */
#define KVO_EACH_1(M, C, A) M(C, A)
#define KVO_EACH_2(M, C, A, ...) M(C, A) KVO_EACH_1(M, C, __VA_ARGS__)
#define KVO_EACH_3(M, C, A, ...) M(C, A) KVO_EACH_2(M, C, __VA_ARGS__)
#define KVO_EACH_4(M, C, A, ...) M(C, A) KVO_EACH_3(M, C, __VA_ARGS__)
#define KVO_EACH_5(M, C, A, ...) M(C, A) KVO_EACH_4(M, C, __VA_ARGS__)
#define KVO_EACH_6(M, C, A, ...) M(C, A) KVO_EACH_5(M, C, __VA_ARGS__)
#define KVO_EACH_7(M, C, A, ...) M(C, A) KVO_EACH_6(M, C, __VA_ARGS__)
#define KVO_EACH_8(M, C, A, ...) M(C, A) KVO_EACH_7(M, C, __VA_ARGS__)
#define KVO_EACH_9(M, C, A, ...) M(C, A) KVO_EACH_8(M, C, __VA_ARGS__)
#define KVO_EACH_10(M, C, A, ...) M(C, A) KVO_EACH_9(M, C, __VA_ARGS__)
#define KVO_EACH_11(M, C, A, ...) M(C, A) KVO_EACH_10(M, C, __VA_ARGS__)
#define KVO_EACH_12(M, C, A, ...) M(C, A) KVO_EACH_11(M, C, __VA_ARGS__)
#define KVO_EACH_13(M, C, A, ...) M(C, A) KVO_EACH_12(M, C, __VA_ARGS__)
#define KVO_EACH_14(M, C, A, ...) M(C, A) KVO_EACH_13(M, C, __VA_ARGS__)
#define KVO_EACH_15(M, C, A, ...) M(C, A) KVO_EACH_14(M, C, __VA_ARGS__)
#define KVO_EACH_16(M, C, A, ...) M(C, A) KVO_EACH_15(M, C, __VA_ARGS__)
#define KVO_EACH_17(M, C, A, ...) M(C, A) KVO_EACH_16(M, C, __VA_ARGS__)
#define KVO_EACH_18(M, C, A, ...) M(C, A) KVO_EACH_17(M, C, __VA_ARGS__)
#define KVO_EACH_19(M, C, A, ...) M(C, A) KVO_EACH_18(M, C, __VA_ARGS__)
#define KVO_EACH_20(M, C, A, ...) M(C, A) KVO_EACH_19(M, C, __VA_ARGS__)
#define KVO_EACH_21(M, C, A, ...) M(C, A) KVO_EACH_20(M, C, __VA_ARGS__)
#define KVO_EACH_22(M, C, A, ...) M(C, A) KVO_EACH_21(M, C, __VA_ARGS__)
#define KVO_EACH_23(M, C, A, ...) M(C, A) KVO_EACH_22(M, C, __VA_ARGS__)
#define KVO_EACH_24(M, C, A, ...) M(C, A) KVO_EACH_23(M, C, __VA_ARGS__)
#define KVO_EACH_25(M, C, A, ...) M(C, A) KVO_EACH_24(M, C, __VA_ARGS__)
#define KVO_EACH_26(M, C, A, ...) M(C, A) KVO_EACH_25(M, C, __VA_ARGS__)
#define KVO_EACH_27(M, C, A, ...) M(C, A) KVO_EACH_26(M, C, __VA_ARGS__)
#define KVO_EACH_28(M, C, A, ...) M(C, A) KVO_EACH_27(M, C, __VA_ARGS__)
#define KVO_EACH_29(M, C, A, ...) M(C, A) KVO_EACH_28(M, C, __VA_ARGS__)
#define KVO_EACH_30(M, C, A, ...) M(C, A) KVO_EACH_29(M, C, __VA_ARGS__)
#define KVO_EACH_31(M, C, A, ...) M(C, A) KVO_EACH_30(M, C, __VA_ARGS__)
#define KVO_EACH_32(M, C, A, ...) M(C, A) KVO_EACH_31(M, C, __VA_ARGS__)
#define KVO_PICK_33(_1, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11, _12, _13, _14, _15, _16, _17, _18, _19, _20, _21,    \
                    _22, _23, _24, _25, _26, _27, _28, _29, _30, _31, _32, picked, ...)                                \
  picked
#define KVO_FOR_EACH(M, C, ...)                                                                                        \
  KVO_PICK_33(__VA_ARGS__, KVO_EACH_32, KVO_EACH_31, KVO_EACH_30, KVO_EACH_29, KVO_EACH_28, KVO_EACH_27, KVO_EACH_26,  \
              KVO_EACH_25, KVO_EACH_24, KVO_EACH_23, KVO_EACH_22, KVO_EACH_21, KVO_EACH_20, KVO_EACH_19, KVO_EACH_18,  \
              KVO_EACH_17, KVO_EACH_16, KVO_EACH_15, KVO_EACH_14, KVO_EACH_13, KVO_EACH_12, KVO_EACH_11, KVO_EACH_10,  \
              KVO_EACH_9, KVO_EACH_8, KVO_EACH_7, KVO_EACH_6, KVO_EACH_5, KVO_EACH_4, KVO_EACH_3, KVO_EACH_2,          \
              KVO_EACH_1, unused)                                                                                      \
  (M, C, __VA_ARGS__)

#endif /* KVO_CXX_EACH_HPP */
