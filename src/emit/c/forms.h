// src/emit/c/forms.h: the kinds of devices that texts are made for when they leave the process: which device they will meet is not known.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "emit/c/geometry.h"
#include "emit/c/target.h"

namespace pardo::emit {

/// Devices that take the same texts. Faults of their drivers are all worked around; no result depends on that.
struct CForm {
    const char* name;
    CFeatures features;
};
/// Forms of OpenCL C: for devices that run kernels as loops of a processor, or those that run groups.
const std::vector<CForm>& opencl_forms(bool processors);

/// How well texts of a form serve a device, -1: not at all. 0: as its own ones, with the same bits; the less the better.
int distance(const CForm& form, const CFeatures& device);

/// One of few geometries in the place of many, with the same results: for programs that are to have a text for any size. Sums that items
/// share stay as they are.
CGeometry coarse(const CGeometry& geometry, const CTraits& traits, const CFeatures& features);
/// Which of the geometries for which there is a text serves a launch best, by index; -1: none does. `wanted`: coarse; `features`: of the
/// device.
int best_of(std::span<const device::ShapeClass> made, const CGeometry& wanted, const CFeatures& features);
/// True of a geometry that can be: those of a file may be anything.
bool sound(device::ShapeClass code, int rank);

}  // namespace pardo::emit
