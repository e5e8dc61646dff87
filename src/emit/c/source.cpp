// src/emit/c/source.cpp: the kernel that is emitted, for which device and launches, and what was found out about it before.
#include "emit/c/source.h"

#include <pardo/error.h>

#include "emit/analysis/indices.h"
#include "emit/analysis/loads.h"
#include "emit/analysis/sines.h"

namespace pardo::emit {
namespace {

const ir::Kernel& checked(const ir::Kernel& kernel, const CFeatures& features) {
    for (const ir::ValueInfo& v : kernel.values) {
        if (v.type == DType::Float64 && !features.fp64)
            throw Error(ErrorCode::Compile, kernel.name + ": this device has no float64; use float32");
    }
    return kernel;
}

/// Where one item of the language has several of the kernel.
std::vector<ir::InstrId> loads_in_front(const ir::Kernel& kernel, const CGeometry& g) {
    const int items = g.columns * g.rows;
    if (items == 1 || g.mapping != CMapping::Line) return {};
    return early_loads(kernel, items);
}

}  // namespace

CSource::CSource(const ir::Kernel& kernel, const CFeatures& features, const CGeometry& geometry)
    : kernel(checked(kernel, features)),
      features(features),
      geometry(geometry),
      target(*features.target),
      uses(uses_of(kernel)),
      indices(index_values(kernel)),
      fixed(fixed_loads(kernel, uses)),
      early(loads_in_front(kernel, geometry)),
      sines(target.paired_sines ? paired_sines(kernel, uses) : std::map<ir::Value, ir::Value>()),
      adjacent(target.wide_stores && !uses_team() ? adjacent_stores(kernel) : no_adjacent_stores(kernel)),
      shared(geometry.steps > 0 ? shared_values(kernel, uses) : no_shared_values(kernel)),
      names(choose_names(kernel, features, !early.empty())) {}

const ir::Instr* CSource::yield(const ir::Region& region) const {
    if (region.body.empty()) return nullptr;
    const ir::Instr& last = kernel.instrs[region.body.back()];
    return last.op == ir::Opcode::Yield ? &last : nullptr;
}

std::string CSource::sub_group_word(std::string word) const {
    replace_all(word, "$N", std::to_string(kernel.in_groups() ? kernel.sub_group : features.sub_group));
    return word;
}

}  // namespace pardo::emit
