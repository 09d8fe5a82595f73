# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

# A Spack recipe for Tessera. Tessera has no public address yet, so it is built from a copy of its tree:
#
#   spack repo create here tessera && mkdir -p here/packages/tessera
#   cp packaging/spack/package.py here/packages/tessera/
#   spack repo add here && spack dev-build -d PATH-OF-THE-TREE tessera@0.2.0 +mpi
#
# Not tested with Spack: CI has none. CI compiles the file and compares the version.
from spack.package import *


class Tessera(CMakePackage, CudaPackage, ROCmPackage):
    """Level-3 BLAS on machines with several GPUs: every call is planned first and then run."""

    license("BSD-3-Clause", checked_by="The Tessera authors")

    version("0.2.0")

    variant("mpi", default=True, description="Products across processes, and the drop-in PBLAS")
    variant("nccl", default=False, description="Panels travel from GPU to GPU", when="+mpi+cuda")
    variant("fortran", default=True, description="The Fortran module tessera")
    variant("python", default=False, description="The Python module tessera")
    variant("static", default=False, description="libtessera.a, too")

    depends_on("c", type="build")
    depends_on("cxx", type="build", when="+cuda")
    depends_on("fortran", type="build", when="+fortran")
    depends_on("cmake@3.25:", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("python@3.9:", type="build")  # manual pages and completion; the Fortran sources
    depends_on("cjson@1.7.13:")
    # The library loads the CPU's BLAS when it runs.
    depends_on("blas", type=("build", "run"))
    # So it does hwloc, which says which GPUs are near each socket.
    depends_on("hwloc@2:", type=("build", "run"))
    depends_on("mpi", when="+mpi")
    depends_on("nccl@2.17:", when="+nccl")
    with when("+rocm"):
        depends_on("hip", type=("build", "run"))
        depends_on("rocblas", type="run")
    depends_on("cmocka", type="test")
    with when("+python"):
        extends("python@3.9:", type=("build", "run"))
        depends_on("py-cffi@1.15:", type=("build", "run"))
        depends_on("py-numpy@1.21:", type="run")
    conflicts("amdgpu_target=none", when="+rocm", msg="say for which GPUs, for instance amdgpu_target=gfx90a")
    conflicts("cuda_arch=none", when="+cuda", msg="say for which GPUs, for instance cuda_arch=90")

    def cmake_args(self):
        args = [
            self.define_from_variant("TESSERA_MPI", "mpi"),
            self.define_from_variant("TESSERA_CUDA", "cuda"),
            self.define_from_variant("TESSERA_HIP", "rocm"),
            self.define_from_variant("TESSERA_NCCL", "nccl"),
            self.define_from_variant("TESSERA_FORTRAN", "fortran"),
            self.define_from_variant("TESSERA_PYTHON", "python"),
            self.define_from_variant("TESSERA_STATIC", "static"),
            self.define("TESSERA_TESTS", self.run_tests),
            self.define("TESSERA_BENCH", False),
            self.define("TESSERA_EXAMPLES", False),
        ]
        if self.spec.satisfies("+cuda"):
            args.append(self.define("CMAKE_CUDA_ARCHITECTURES", self.spec.variants["cuda_arch"].value))
            args.append(self.define("NVCC", self.spec["cuda"].prefix.bin.nvcc))
        if self.spec.satisfies("+rocm"):
            args.append(self.define("TESSERA_HIP_ARCHITECTURES", self.spec.variants["amdgpu_target"].value))
            args.append(self.define("HIPCC", self.spec["hip"].prefix.bin.hipcc))
        if self.spec.satisfies("+python"):
            args.append(self.define("TESSERA_PYTHON_DIR", join_path(python_platlib, "tessera")))
        return args

    @run_after("install", when="+python")
    def install_python(self):
        cmake("--install", self.build_directory, "--component", "python")

    def setup_run_environment(self, env):
        env.set("TESSERA_CPU_BLAS", self.spec["blas"].libs[0])
        if self.spec.satisfies("+rocm"):  # the engine looks there for the libraries of ROCm
            env.prepend_path("LD_LIBRARY_PATH", self.spec["hip"].prefix.lib)
            env.prepend_path("LD_LIBRARY_PATH", self.spec["rocblas"].prefix.lib)

    def test_plan(self):
        """a plan for an installed machine"""
        tessera = which(self.prefix.bin.tessera)
        said = tessera("plan", "gemm", "d", "4096", "4096", "4096", "--machine", "h200x4", output=str.split)
        assert "4096" in said
