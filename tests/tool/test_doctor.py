"""What tells a user how his machine, his build and his settings are: tessera doctor, tessera --version, and
what is said of misspelt settings."""
from support import HERE, tessera


# ---- Misspelt settings ----


def test_a_misspelt_setting_is_told():
    done = tessera("plan gemm d 64 64 64", "--machine", HERE, env={"TESSERA_ENGIN": "host"}).ok()
    done.warns("^tessera plan: TESSERA_ENGIN is no setting and has no effect; did you mean TESSERA_ENGINE")


def test_names_that_are_near_no_setting_are_not_told():
    tessera("plan gemm d 64 64 64", "--machine", HERE,
            env={"TESSERA_ROOT": "/opt/tessera", "TESSERA_HOME": "/opt"}).ok().quiet()


def test_the_log_names_a_misspelt_setting_once():
    done = tessera("machine --engine cpu", env={"TESSERA_TILES": "64", "TESSERA_LOG": "error"}).ok()
    assert done.err.count("error: TESSERA_TILES is no setting") == 1, repr(done)
