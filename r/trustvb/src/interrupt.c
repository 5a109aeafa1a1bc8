/* Whether the user has asked to stop. R_CheckUserInterrupt() jumps to R's top level when so; R_ToplevelExec() makes
   that the end of a call, so that no frame of Rust is jumped over. */

#include <R.h>
#include <Rinternals.h>
#include <R_ext/Utils.h>

static void check(void *unused) {
    (void)unused;
    R_CheckUserInterrupt();
}

int trustvb_interrupted(void) {
    return R_ToplevelExec(check, NULL) == FALSE;
}
