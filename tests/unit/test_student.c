#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "stats/student.h"

static void assert_close(double got, double expected, double apart)
{
    if (!(fabs(got - expected) <= apart))
        fail_msg("%.12g, not %.12g", got, expected);
}

// One degree of freedom is Cauchy's distribution and two have a closed form, so the quantiles are
// known exactly; the others are those of published tables.
static void quantiles_are_those_of_the_distribution(void **state)
{
    (void)state;
    for (int i = 1; i < 40; i++) {
        double p = i / 40.0;
        assert_close(tlc_student_quantile(p, 1), tan(M_PI * (p - 0.5)), 1e-9);
        assert_close(tlc_student_quantile(p, 2), (2 * p - 1) / sqrt(2 * p * (1 - p)), 1e-9);
    }
    assert_close(tlc_student_quantile(0.9995, 14), 4.140, 0.0005); // 15 iterations at 99.9 %
    assert_close(tlc_student_quantile(0.9995, 24), 3.745, 0.0005);
    assert_close(tlc_student_quantile(0.975, 10), 2.228, 0.0005);
    assert_close(tlc_student_quantile(0.975, 1e6), 1.960, 0.0005); // the normal one
}

static void quantiles_outside_are_refused(void **state)
{
    (void)state;
    assert_true(isnan(tlc_student_quantile(0, 5)));
    assert_true(isnan(tlc_student_quantile(1, 5)));
    assert_true(isnan(tlc_student_quantile(NAN, 5)));
    assert_true(isnan(tlc_student_quantile(0.5, 0.5)));
}

static void intervals_are_mean_and_error(void **state)
{
    (void)state;
    const double values[] = {10, 12, NAN, 14};
    struct tlc_interval interval = tlc_student_interval(values, 4, 0.95);
    assert_int_equal(interval.n, 3);
    assert_close(interval.estimate, 12, 1e-12);
    assert_close(interval.high - 12, 4.3027 * 2 / sqrt(3), 1e-3); // t of 2 degrees at 97.5 %
    assert_close(12 - interval.low, interval.high - 12, 1e-12);
}

static void one_value_has_no_interval(void **state)
{
    (void)state;
    const double value = 5;
    struct tlc_interval interval = tlc_student_interval(&value, 1, 0.999);
    assert_close(interval.estimate, 5, 0);
    assert_true(isinf(interval.low) && isinf(interval.high));
    assert_true(isnan(tlc_student_interval(NULL, 0, 0.999).estimate));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quantiles_are_those_of_the_distribution),
        cmocka_unit_test(quantiles_outside_are_refused),
        cmocka_unit_test(intervals_are_mean_and_error),
        cmocka_unit_test(one_value_has_no_interval),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
