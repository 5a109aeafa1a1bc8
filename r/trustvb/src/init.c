
// clang-format sorts includes unless SortIncludes: Never. However, the ordering
// does matter here. So, we need to disable clang-format for safety.

// clang-format off
#include <stdint.h>
#include <Rinternals.h>
#include <R_ext/Parse.h>
// clang-format on

#include "rust/api.h"

static uintptr_t TAGGED_POINTER_MASK = (uintptr_t)1;

SEXP handle_result(SEXP res_) {
    uintptr_t res = (uintptr_t)res_;

    // An error is indicated by tag.
    if ((res & TAGGED_POINTER_MASK) == 1) {
        // Remove tag
        SEXP res_aligned = (SEXP)(res & ~TAGGED_POINTER_MASK);

        // Currently, there are two types of error cases:
        //
        //   1. Error from Rust code
        //   2. Error from R's C API, which is caught by R_UnwindProtect()
        //
        if (TYPEOF(res_aligned) == CHARSXP) {
            // In case 1, the result is an error message that can be passed to
            // Rf_errorcall() directly.
            Rf_errorcall(R_NilValue, "%s", CHAR(res_aligned));
        } else {
            // In case 2, the result is the token to restart the
            // cleanup process on R's side.
            R_ContinueUnwind(res_aligned);
        }
    }

    return (SEXP)res;
}

SEXP savvy_formula_is_known__impl(SEXP c_arg__text) {
    SEXP res = savvy_formula_is_known__ffi(c_arg__text);
    return handle_result(res);
}

SEXP savvy_method_names__impl(void) {
    SEXP res = savvy_method_names__ffi();
    return handle_result(res);
}

SEXP savvy_method_needs__impl(SEXP c_arg__name) {
    SEXP res = savvy_method_needs__ffi(c_arg__name);
    return handle_result(res);
}

SEXP savvy_Engine_about__impl(SEXP self__) {
    SEXP res = savvy_Engine_about__ffi(self__);
    return handle_result(res);
}

SEXP savvy_Engine_answer__impl(SEXP self__, SEXP c_arg__asked, SEXP c_arg__methods, SEXP c_arg__options) {
    SEXP res = savvy_Engine_answer__ffi(self__, c_arg__asked, c_arg__methods, c_arg__options);
    return handle_result(res);
}

SEXP savvy_Engine_build__impl(SEXP self__, SEXP c_arg__options) {
    SEXP res = savvy_Engine_build__ffi(self__, c_arg__options);
    return handle_result(res);
}

SEXP savvy_Engine_build_in__impl(SEXP self__, SEXP c_arg__path, SEXP c_arg__options) {
    SEXP res = savvy_Engine_build_in__ffi(self__, c_arg__path, c_arg__options);
    return handle_result(res);
}

SEXP savvy_Engine_curve__impl(SEXP self__, SEXP c_arg__text, SEXP c_arg__method, SEXP c_arg__level) {
    SEXP res = savvy_Engine_curve__ffi(self__, c_arg__text, c_arg__method, c_arg__level);
    return handle_result(res);
}

SEXP savvy_Engine_density__impl(SEXP self__, SEXP c_arg__text, SEXP c_arg__points) {
    SEXP res = savvy_Engine_density__ffi(self__, c_arg__text, c_arg__points);
    return handle_result(res);
}

SEXP savvy_Engine_draws__impl(SEXP self__, SEXP c_arg__options) {
    SEXP res = savvy_Engine_draws__ffi(self__, c_arg__options);
    return handle_result(res);
}

SEXP savvy_Engine_estimates__impl(SEXP self__, SEXP c_arg__asked, SEXP c_arg__options) {
    SEXP res = savvy_Engine_estimates__ffi(self__, c_arg__asked, c_arg__options);
    return handle_result(res);
}

SEXP savvy_Engine_likelihood__impl(SEXP self__) {
    SEXP res = savvy_Engine_likelihood__ffi(self__);
    return handle_result(res);
}

SEXP savvy_Engine_new__impl(SEXP c_arg__model, SEXP c_arg__columns, SEXP c_arg__options) {
    SEXP res = savvy_Engine_new__ffi(c_arg__model, c_arg__columns, c_arg__options);
    return handle_result(res);
}

SEXP savvy_Engine_open__impl(SEXP c_arg__path) {
    SEXP res = savvy_Engine_open__ffi(c_arg__path);
    return handle_result(res);
}

SEXP savvy_Engine_predict__impl(SEXP self__, SEXP c_arg__columns) {
    SEXP res = savvy_Engine_predict__ffi(self__, c_arg__columns);
    return handle_result(res);
}

SEXP savvy_Engine_responsibilities__impl(SEXP self__) {
    SEXP res = savvy_Engine_responsibilities__ffi(self__);
    return handle_result(res);
}

SEXP savvy_Engine_rows__impl(SEXP self__) {
    SEXP res = savvy_Engine_rows__ffi(self__);
    return handle_result(res);
}

SEXP savvy_Engine_sample__impl(SEXP self__, SEXP c_arg__asked, SEXP c_arg__options) {
    SEXP res = savvy_Engine_sample__ffi(self__, c_arg__asked, c_arg__options);
    return handle_result(res);
}

SEXP savvy_Engine_select__impl(SEXP self__, SEXP c_arg__options) {
    SEXP res = savvy_Engine_select__ffi(self__, c_arg__options);
    return handle_result(res);
}


static const R_CallMethodDef CallEntries[] = {
    {"savvy_formula_is_known__impl", (DL_FUNC) &savvy_formula_is_known__impl, 1},
    {"savvy_method_names__impl", (DL_FUNC) &savvy_method_names__impl, 0},
    {"savvy_method_needs__impl", (DL_FUNC) &savvy_method_needs__impl, 1},
    {"savvy_Engine_about__impl", (DL_FUNC) &savvy_Engine_about__impl, 1},
    {"savvy_Engine_answer__impl", (DL_FUNC) &savvy_Engine_answer__impl, 4},
    {"savvy_Engine_build__impl", (DL_FUNC) &savvy_Engine_build__impl, 2},
    {"savvy_Engine_build_in__impl", (DL_FUNC) &savvy_Engine_build_in__impl, 3},
    {"savvy_Engine_curve__impl", (DL_FUNC) &savvy_Engine_curve__impl, 4},
    {"savvy_Engine_density__impl", (DL_FUNC) &savvy_Engine_density__impl, 3},
    {"savvy_Engine_draws__impl", (DL_FUNC) &savvy_Engine_draws__impl, 2},
    {"savvy_Engine_estimates__impl", (DL_FUNC) &savvy_Engine_estimates__impl, 3},
    {"savvy_Engine_likelihood__impl", (DL_FUNC) &savvy_Engine_likelihood__impl, 1},
    {"savvy_Engine_new__impl", (DL_FUNC) &savvy_Engine_new__impl, 3},
    {"savvy_Engine_open__impl", (DL_FUNC) &savvy_Engine_open__impl, 1},
    {"savvy_Engine_predict__impl", (DL_FUNC) &savvy_Engine_predict__impl, 2},
    {"savvy_Engine_responsibilities__impl", (DL_FUNC) &savvy_Engine_responsibilities__impl, 1},
    {"savvy_Engine_rows__impl", (DL_FUNC) &savvy_Engine_rows__impl, 1},
    {"savvy_Engine_sample__impl", (DL_FUNC) &savvy_Engine_sample__impl, 3},
    {"savvy_Engine_select__impl", (DL_FUNC) &savvy_Engine_select__impl, 2},
    {NULL, NULL, 0}
};

void R_init_trustvb(DllInfo *dll) {
    R_registerRoutines(dll, NULL, CallEntries, NULL, NULL);
    R_useDynamicSymbols(dll, FALSE);

    // Functions for initialization, if any.

}
