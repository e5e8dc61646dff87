// src/routines/cpu/lapack/lapack.cpp: looks the functions of LAPACK up in OpenBLAS.
#include "routines/cpu/lapack/lapack.h"

#include <atomic>
#include <memory>
#include <string>

#include <pardo/error.h>

#include "routines/routines.h"

namespace pardo::routines {

namespace {

template <class T> bool find_all(const OpenBlas& blas, const char* letter, LapackFunctions<T>& f) {
    const auto find = [&](auto*& function, const std::string& name) {
        return blas.file.bind(function, (blas.prefix + letter + name + "_").c_str());
    };
    constexpr bool complex = is_complex_number<T>;
    return find(f.getrf, "getrf") && find(f.getrs, "getrs") && find(f.potrf, "potrf") && find(f.gelqf, "gelqf") && find(f.gelqt, "gelqt") &&
           find(f.larfb, "larfb") && find(f.gesdd, "gesdd") && find(f.syevd, complex ? "heevd" : "syevd") && find(f.geev, "geev") &&
           find(f.gelsd, "gelsd") && find(f.gbsv, "gbsv") && find(f.pbsv, "pbsv") && find(f.syevr, complex ? "heevr" : "syevr") &&
           blas.file.bind(f.trsm, (blas.prefix + "cblas_" + letter + "trsm").c_str());
}

void find_lapack(device::Queue*, const char* op_name) { (void)lapack(op_name); }

const Registered library(routines::matrices_ready, {"LAPACK", DeviceKinds::Host, find_lapack});

}  // namespace

const Lapack& lapack(const char* op_name) {
    static std::atomic<const Lapack*> known{nullptr};  // stays, as the library does
    if (const Lapack* found = known.load(std::memory_order_acquire)) return *found;
    const OpenBlas& blas = openblas(op_name);
    auto made = std::make_unique<Lapack>();
    made->blas = &blas;
    if (!(find_all(blas, "s", made->s) && find_all(blas, "d", made->d) && find_all(blas, "c", made->c) && find_all(blas, "z", made->z)))
        throw Error(ErrorCode::Import, std::string(op_name) + ": " + blas.file.path() +
                                           " has been built without LAPACK; install one that has it with `pip install scipy-openblas32`");
    const Lapack* others = nullptr;
    if (!known.compare_exchange_strong(others, made.get(), std::memory_order_acq_rel)) return *others;
    return *made.release();
}

}  // namespace pardo::routines
