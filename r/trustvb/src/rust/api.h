SEXP savvy_formula_is_known__ffi(SEXP c_arg__text);
SEXP savvy_method_names__ffi(void);
SEXP savvy_method_needs__ffi(SEXP c_arg__name);

// methods and associated functions for Engine
SEXP savvy_Engine_about__ffi(SEXP self__);
SEXP savvy_Engine_answer__ffi(SEXP self__, SEXP c_arg__asked, SEXP c_arg__methods, SEXP c_arg__options);
SEXP savvy_Engine_build__ffi(SEXP self__, SEXP c_arg__options);
SEXP savvy_Engine_build_in__ffi(SEXP self__, SEXP c_arg__path, SEXP c_arg__options);
SEXP savvy_Engine_curve__ffi(SEXP self__, SEXP c_arg__text, SEXP c_arg__method, SEXP c_arg__level);
SEXP savvy_Engine_density__ffi(SEXP self__, SEXP c_arg__text, SEXP c_arg__points);
SEXP savvy_Engine_draws__ffi(SEXP self__, SEXP c_arg__options);
SEXP savvy_Engine_estimates__ffi(SEXP self__, SEXP c_arg__asked, SEXP c_arg__options);
SEXP savvy_Engine_likelihood__ffi(SEXP self__);
SEXP savvy_Engine_new__ffi(SEXP c_arg__model, SEXP c_arg__columns, SEXP c_arg__options);
SEXP savvy_Engine_open__ffi(SEXP c_arg__path);
SEXP savvy_Engine_predict__ffi(SEXP self__, SEXP c_arg__columns);
SEXP savvy_Engine_responsibilities__ffi(SEXP self__);
SEXP savvy_Engine_rows__ffi(SEXP self__);
SEXP savvy_Engine_sample__ffi(SEXP self__, SEXP c_arg__asked, SEXP c_arg__options);
SEXP savvy_Engine_select__ffi(SEXP self__, SEXP c_arg__options);
