/* sums.c - the operators @sum and @avg: exact sums of decimals of any size. */
#include "basket.h"

#include <string.h>

static double sum_of_prices(basket *root, const char *path, size_t count, const double *prices) {
  double sum = -1;
  root->price_count = count;
  memcpy(root->prices, prices, count * sizeof *prices);
  CHECK_OK(kvo_get_double(as_kvo(root), path, &sum));
  return sum;
}

TEST("the sum and the average of one number are that number, whatever its digits, and of opposite ones zero") {
  basket *root = basket_make("b", 0);
  for (int divisor = 1; divisor <= 120; divisor++)
    for (int dividend = -3; dividend <= 40; dividend++) {
      double exact = (double)dividend / divisor, opposite[] = {exact, -exact};
      CHECK_EQ(sum_of_prices(root, "prices.@sum.self", 1, opposite), exact);
      CHECK_EQ(sum_of_prices(root, "prices.@avg.self", 1, opposite), exact);
      CHECK_EQ(sum_of_prices(root, "prices.@sum.self", 2, opposite), 0.0);
    }
  static const double large[] = {999999999999999.0, 1e15,   1e16, 123456789012345.6, 0.0001, 0.00001,
                                 99999.9999,        -1e-20, 1e22, 4503599627370497.5};
  for (size_t i = 0; i < sizeof large / sizeof *large; i++)
    CHECK_EQ(sum_of_prices(root, "prices.@sum.self", 1, &large[i]), large[i]);
  basket_destroy(root);
}

TEST("sums borrow and carry between their digits, of both signs") {
  basket *root = basket_make("b", 0);
  static const struct {
    double numbers[3], sum;
  } rows[] = {{{1, -0.3, 0}, 0.7},
              {{-1, 0.3, 0}, -0.7},
              {{1e9, -1, 0}, 999999999},
              {{-1e9, 1, 0}, -999999999},
              {{1e18, -1e-9, 0}, 1e18},
              {{1e9, 1e-9, -1e9}, 1e-9},
              {{-1e18, 1e-18, 1e18}, 1e-18},
              {{1e27, -1e27, -5}, -5},
              {{999999999.5, 0.5, 0}, 1e9},
              {{-999999999.5, -0.5, 0}, -1e9},
              {{1e200, 1e-200, -1e200}, 1e-200},
              {{1e200, -1e-200, -1e200}, -1e-200}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    CHECK_EQ(sum_of_prices(root, "prices.@sum.self", 3, rows[i].numbers), rows[i].sum);
  }
  basket_destroy(root);
}

TEST("texts of numbers from 10^-360 to 10^324 are added exactly") {
  basket *root = basket_make("b", 0);
  static const char *const texts[][4] = {{"1e324", "1", "-1e324", "0"}, {"1e30", "1", "-1e30", "1e-360"}};
  for (size_t i = 0; i < 2; i++) {
    double sum;
    for (size_t k = 0; k < 4; k++)
      CHECK_OK(kvo_list_insert(as_kvo(root), "names", k, KVO_VALUE(const char *, texts[i][k])));
    CHECK_OK(kvo_get_double(as_kvo(root), "names.@sum.self", &sum));
    CHECK_EQ(sum, 1.0);
    for (size_t k = 0; k < 4; k++) CHECK_OK(kvo_list_remove(as_kvo(root), "names", 0));
  }
  basket_destroy(root);
}
