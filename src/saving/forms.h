// src/saving/forms.h: kernels as texts and as machine code for devices that drivers run: which forms a target has, and which geometries
// they are made for.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "emit/c/forms.h"
#include "saved/program.h"
#include "saving/device.h"
#include "saving/run.h"

namespace pardo::saving {

/// 90 of "sm_90"; 0 of anything else.
int architecture_of(const std::string& target);

/// The targets of an export, apart: processors with machine code made here, and devices with drivers.
struct Targets {
    std::vector<std::string> processors, devices;
    /// Throws Value for what is no target, Import where CUDA's compiler is missing. None: all that this build makes for processors.
    explicit Targets(const std::vector<std::string>& asked);
    /// Whether a part for devices of a kind is needed.
    bool need(DeviceKind kind) const;
};

/// Collects how kernels are launched for the sizes that an export looks at, and makes their forms.
class Forms {
public:
    Forms(const Targets& targets, DeviceKind kind, const Codes& codes);
    /// Each launch for these sizes.
    void meet(const saved::Regime& regime, const Sizes& sizes);
    /// Emits and compiles all of it, on all threads. Throws Compile, with the first reason, for a target that has none.
    std::vector<saved::Form> made();

private:
    struct One {
        std::string target, name;
        int architecture = 0;                              // of CUDA; 0: text of OpenCL C
        emit::CFeatures features;                          // what texts are written with
        std::vector<emit::CFeatures> devices;              // devices that there may be
        std::vector<std::set<device::ShapeClass>> shapes;  // by kernel
    };
    const Codes& codes_;
    std::vector<emit::CTraits> traits_;  // by kernel
    std::vector<One> forms_;
};

/// Kernels of a part without their images.
std::vector<saved::Code> device_codes(const Codes& codes);

}  // namespace pardo::saving
