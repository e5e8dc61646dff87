// src/emit/analysis/lanes.cpp: the lane-shape analysis: one forward walk over the structured IR, repeated for loops until it is stable.
#include "emit/analysis/lanes.h"

#include <algorithm>

#include "ir/rules.h"

namespace pardo::emit {

using ir::Instr;
using ir::InstrId;
using ir::Kernel;
using ir::LoopKind;
using ir::Opcode;
using ir::Region;
using ir::Value;

bool constant_int(const Kernel& kernel, Value v, std::int64_t& out) {
    const ir::ValueInfo& info = kernel.values[v];
    if (info.region != ir::RegionId(~0u) || info.def == InstrId(~0u) || info.def >= kernel.instrs.size()) return false;
    const Instr& in = kernel.instrs[info.def];
    if (in.op != Opcode::Const || !is_integer(info.type)) return false;
    out = kind_of(info.type) == DKind::Signed ? in.scalar().i : static_cast<std::int64_t>(in.scalar().u);
    return true;
}

unsigned lane_bits(int vector_bytes, int lanes) { return std::clamp(static_cast<unsigned>(vector_bytes * 8 / lanes), 8u, 64u); }

bool is_private(const Kernel& kernel, Value pointer) {
    const Instr& in = kernel.instrs[kernel.values[pointer].def];
    return in.op == Opcode::Array && kernel.arrays[in.index()].space == ir::Space::Private;
}

bool is_of_lane(const Kernel& kernel, const LaneInfo& info, Value pointer) {
    const Instr& in = kernel.instrs[kernel.values[pointer].def];
    return in.op == Opcode::Array && info.lane_arrays[in.index()];
}

bool is_instruction(ir::Math fn) {
    switch (fn) {
        case ir::Math::sqrt:
        case ir::Math::floor:
        case ir::Math::ceil:
        case ir::Math::trunc:
        case ir::Math::rint:
        case ir::Math::copysign: return true;
        default: return false;
    }
}

namespace {

constexpr LaneShape uniform{LaneShape::Uniform, 0};
constexpr LaneShape varying{LaneShape::Varying, 0};

LaneShape affine(std::int64_t step) { return step == 0 ? uniform : LaneShape{LaneShape::Affine, step}; }

/// The shape of a value that is sometimes `a` and sometimes `b`, the choice being the same in all lanes.
LaneShape join(LaneShape a, LaneShape b) {
    if (a.kind == LaneShape::Strided || b.kind == LaneShape::Strided) return varying;
    return a == b ? a : varying;
}

/// What is compared: the lanes of a vector, one after the other where items are not lanes, or all items of a group.
enum class Of { Lanes, Scalars, Group };

class Analysis {
public:
    Analysis(const Kernel& kernel, const std::vector<bool>& own, Of of) : kernel_(kernel), own_(own), group_(of == Of::Group), of_(of) {
        info_.shapes.resize(kernel.values.size());
        info_.vector_loop.resize(kernel.instrs.size());
        info_.masked.resize(kernel.instrs.size());
        info_.uses.resize(kernel.values.size());
        for (const ir::ArrayInfo& a : kernel.arrays) info_.lane_arrays.push_back(a.space == ir::Space::Private && !a.whole);
    }

    LaneInfo run() {
        info_.item_lanes = kernel_.lanes && kernel_.rank > 0 && of_ != Of::Scalars;
        if (kernel_.in_groups()) {
            const auto several = [](std::int64_t n) { return n > 1; };
            info_.item_lanes = group_ ? std::any_of(kernel_.group_size.begin(), kernel_.group_size.end(), several)
                                      : several(kernel_.group_size[kernel_.rank - 1]);
        }
        in_lanes_ = info_.item_lanes;
        count_uses(kernel_.body, in_lanes_);
        walk(kernel_.body);
        return std::move(info_);
    }

private:
    void count_uses(const Region& region, bool in_lanes) {
        for (InstrId id : region.body) {
            const Instr& in = kernel_.instrs[id];
            for (Value v : in.operands) ++info_.uses[v];
            if (ir::takes_pointer(in.op) && !in_lanes && is_private(kernel_, in.operands[0])) info_.lane_arrays[array_of(in)] = false;
            for (ir::RegionId r : in.regions) count_uses(kernel_.regions[r], in_lanes || becomes_lanes(in));
        }
    }
    std::uint32_t array_of(const Instr& access) const { return kernel_.instrs[kernel_.values[access.operands[0]].def].index(); }

    LaneShape shape(Value v) const { return info_.shapes[v]; }
    void set(Value v, LaneShape s) { info_.shapes[v] = own(v) ? varying : s; }
    bool own(Value v) const { return info_.item_lanes && !own_.empty() && own_[v]; }

    /// An item's index in a dimension of the range or of its group.
    LaneShape item_index(int dimension) const {
        if (!info_.item_lanes) return uniform;
        if (group_) return kernel_.group_size[dimension] > 1 ? varying : uniform;
        return dimension == kernel_.rank - 1 ? affine(1) : uniform;
    }

    LaneShape loaded(const Instr& in) const {
        if (is_of_lane(kernel_, info_, in.operands[0])) return varying;
        return shape(in.operands[1]).kind == LaneShape::Uniform ? uniform : varying;
    }

    /// A lanes loop outside of which nothing runs in lanes: its iterations do, if it has no other such loop inside.
    bool becomes_lanes(const Instr& in) const { return ir::is_lanes_loop(in) && !contains_lanes_loop(kernel_.regions[in.regions[0]]); }

    bool contains_lanes_loop(const Region& region) const {
        return std::any_of(region.body.begin(), region.body.end(), [&](InstrId id) {
            const Instr& in = kernel_.instrs[id];
            if (ir::is_lanes_loop(in)) return true;
            return std::any_of(in.regions.begin(), in.regions.end(),
                               [&](ir::RegionId r) { return contains_lanes_loop(kernel_.regions[r]); });
        });
    }

    const Instr& yield(const Region& region) const { return kernel_.instrs[region.body.back()]; }

    void walk(const Region& region) {
        for (InstrId id : region.body) visit(id);
    }

    void visit(InstrId id) {
        const Instr& in = kernel_.instrs[id];
        switch (in.op) {
            case Opcode::Yield:
            case Opcode::Fence:
            case Opcode::Barrier:
            case Opcode::Report:
            case Opcode::Store: return;
            case Opcode::Const:
            case Opcode::Param:
            case Opcode::Extent:
            case Opcode::GroupDim:
            case Opcode::Array: return set(in.results[0], uniform);
            case Opcode::Dim:
            case Opcode::LocalDim: return set(in.results[0], item_index(static_cast<int>(in.index())));
            case Opcode::Load: return set(in.results[0], loaded(in));
            case Opcode::Atomic:
            case Opcode::CompareExchange: return set(in.results[0], in_lanes_ ? varying : uniform);
            case Opcode::Resize:
            case Opcode::TakeMemory: return set(in.results[0], uniform);
            case Opcode::If: return visit_if(id, in);
            case Opcode::While: return visit_while(id, in);
            case Opcode::For: return in.loop_kind() == LoopKind::Lanes ? visit_lanes(id, in) : visit_for(id, in);
            default: return set(in.results[0], arithmetic(in));
        }
    }

    LaneShape arithmetic(const Instr& in) const {
        bool all_uniform = true, any_varying = false;
        for (Value v : in.operands) {
            all_uniform &= shape(v).kind == LaneShape::Uniform;
            any_varying |= shape(v).kind == LaneShape::Varying;
        }
        if (all_uniform) return uniform;
        if (any_varying || kernel_.values[in.results[0]].type != DType::Int64) return varying;
        const LaneShape a = shape(in.operands[0]), b = in.operands.size() > 1 ? shape(in.operands[1]) : uniform;
        const bool strided = a.kind == LaneShape::Strided || b.kind == LaneShape::Strided;
        std::int64_t c = 0;
        switch (in.op) {
            case Opcode::Add: return strided ? LaneShape{LaneShape::Strided, 0} : affine(wrap_add(a.step, b.step));
            case Opcode::Sub: return strided ? LaneShape{LaneShape::Strided, 0} : affine(wrap_add(a.step, wrap_mul(b.step, -1)));
            case Opcode::Neg: return strided ? a : affine(wrap_mul(a.step, -1));
            case Opcode::Cast: return kernel_.values[in.operands[0]].type == DType::Int64 ? a : varying;
            case Opcode::Mul:
                if (a.kind != LaneShape::Uniform && b.kind != LaneShape::Uniform) return varying;
                if (!strided && constant_int(kernel_, in.operands[a.kind == LaneShape::Uniform ? 0 : 1], c))
                    return affine(wrap_mul(a.step + b.step, c));
                return {LaneShape::Strided, 0};
            default: return varying;
        }
    }
    static std::int64_t wrap_add(std::int64_t a, std::int64_t b) {
        return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
    }
    static std::int64_t wrap_mul(std::int64_t a, std::int64_t b) {
        return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
    }

    void visit_if(InstrId id, const Instr& in) {
        const Region& then_region = kernel_.regions[in.regions[0]];
        const Region& else_region = kernel_.regions[in.regions[1]];
        walk(then_region);
        walk(else_region);
        info_.masked[id] = shape(in.operands[0]).kind != LaneShape::Uniform;
        for (int r = 0; r < in.results.size(); ++r) {
            const Value a = yield(then_region).operands[r], b = yield(else_region).operands[r];
            set(in.results[r], info_.masked[id] ? varying : join(shape(a), shape(b)));
        }
    }

    /// Walks a loop until the shapes of its carried values are stable. `masked` tells, after each walk, whether lanes leave it separately;
    /// then what is read after it is each lane's last value, which varies though all lanes in the loop may have the same.
    template <class Masked>
    void fixpoint(const Instr& in, const Region& body, int first_initial, int first_arg, const Region* condition, Masked masked) {
        const int count = in.results.size();
        std::vector<LaneShape> carried;
        carried.reserve(static_cast<std::size_t>(count));
        for (int k = 0; k < count; ++k) {
            const LaneShape initial = shape(in.operands[first_initial + k]);
            carried.push_back(own(in.results[k]) ? varying : join(initial, initial));
        }
        for (bool changed = true; changed;) {
            changed = false;
            for (int k = 0; k < count; ++k) {
                set(body.args[first_arg + k], carried[k]);
                if (condition) set(condition->args[k], carried[k]);
            }
            if (condition) walk(*condition);
            walk(body);
            for (int k = 0; k < count; ++k) {
                const Value next = yield(body).operands[k];
                LaneShape s = next == body.args[first_arg + k] ? carried[k] : join(carried[k], shape(next));
                if (s == carried[k]) continue;
                carried[k] = s.kind == LaneShape::Strided ? varying : s;
                changed = true;
            }
        }
        for (int k = 0; k < count; ++k) {
            const bool kept = !masked() || yield(body).operands[k] == body.args[first_arg + k];
            set(in.results[k], kept ? carried[k] : varying);
        }
    }

    void visit_while(InstrId id, const Instr& in) {
        const Region& condition = kernel_.regions[in.regions[0]];
        const Region& body = kernel_.regions[in.regions[1]];
        auto masked = [&] { return shape(yield(condition).operands[0]).kind != LaneShape::Uniform; };
        fixpoint(in, body, 0, 0, &condition, masked);
        info_.masked[id] = masked();
    }

    /// True if the bounds differ between lanes; sets the index's shape.
    bool visit_bounds(InstrId id, const Instr& in, const Region& body) {
        const LaneShape lower = shape(in.operands[0]), step = shape(in.operands[2]);
        bool masked = false;
        for (int k = 0; k < 3; ++k) masked |= shape(in.operands[k]).kind != LaneShape::Uniform;
        info_.masked[id] = masked;
        const bool simple = step.kind == LaneShape::Uniform && lower.kind != LaneShape::Strided;
        set(body.args[0], !masked ? uniform : simple ? lower : varying);
        return masked;
    }

    void visit_for(InstrId id, const Instr& in) {
        const Region& body = kernel_.regions[in.regions[0]];
        const bool masked = visit_bounds(id, in, body);
        fixpoint(in, body, 3, 1, nullptr, [=] { return masked; });
    }

    void visit_lanes(InstrId id, const Instr& in) {
        const Region& body = kernel_.regions[in.regions[0]];
        if (!in_lanes_ && becomes_lanes(in)) {
            info_.vector_loop[id] = true;
            in_lanes_ = true;
            set(body.args[0], affine(1));
            walk(body);
            in_lanes_ = false;
            for (Value r : in.results) set(r, uniform);
            return;
        }
        const bool masked = visit_bounds(id, in, body);
        walk(body);
        for (int k = 0; k < in.results.size(); ++k) {
            const bool same = !masked && shape(yield(body).operands[k]).kind == LaneShape::Uniform &&
                              shape(in.operands[3 + k]).kind == LaneShape::Uniform;
            set(in.results[k], same ? uniform : varying);
        }
    }

    const Kernel& kernel_;
    const std::vector<bool>& own_;
    bool group_;
    Of of_;
    LaneInfo info_;
    bool in_lanes_ = false;
};

int instruction_cost(const Kernel& kernel, const Instr& in) {
    switch (in.op) {
        case Opcode::Const:
        case Opcode::Param:
        case Opcode::Extent:
        case Opcode::Dim:
        case Opcode::LocalDim:
        case Opcode::GroupDim:
        case Opcode::Array:
        case Opcode::Report:
        case Opcode::Yield: return 0;
        case Opcode::Atomic:
        case Opcode::Fence:
        case Opcode::CompareExchange: return 20;
        case Opcode::Call: return in.math() == ir::Math::sqrt ? 6 : is_instruction(in.math()) ? 1 : 25;
        case Opcode::Div: return 6;
        case Opcode::FloorDiv:
        case Opcode::Rem:
        case Opcode::Fmod: return 30;
        default: break;
    }
    int sum = 1;
    for (ir::RegionId r : in.regions) sum += region_cost(kernel, kernel.regions[r]);
    if (in.op == Opcode::For || in.op == Opcode::While) sum = 60 + 4 * sum;
    return sum;
}

}  // namespace

namespace {

/// Places of memory of others that lanes read and write freely.
void collect_free(const Kernel& kernel, const LaneInfo& info, const Region& region, std::vector<Value>& read, std::vector<Value>& written) {
    for (InstrId id : region.body) {
        const Instr& in = kernel.instrs[id];
        if ((in.op == Opcode::Load || in.op == Opcode::Store) && info.shapes[in.operands[1]].kind == LaneShape::Varying &&
            !is_private(kernel, in.operands[0]))
            (in.op == Opcode::Load ? read : written).push_back(in.operands[0]);
        for (ir::RegionId r : in.regions) collect_free(kernel, info, kernel.regions[r], read, written);
    }
}

/// Whether items have a loop that reads at computed places what it may have written there, as `h[k[i]] += 1`: an iteration waits for the
/// stores of the one before, and those of all lanes are slow.
bool waits_for_stores(const Kernel& kernel, const LaneInfo& info, const Region& region) {
    return std::ranges::any_of(region.body, [&](InstrId id) {
        const Instr& in = kernel.instrs[id];
        if (in.op == Opcode::While || (in.op == Opcode::For && in.loop_kind() == LoopKind::Serial)) {
            std::vector<Value> read, written;
            for (ir::RegionId r : in.regions) collect_free(kernel, info, kernel.regions[r], read, written);
            return std::ranges::any_of(written, [&](Value v) { return std::ranges::find(read, v) != read.end(); });
        }
        return std::ranges::any_of(in.regions, [&](ir::RegionId r) { return waits_for_stores(kernel, info, kernel.regions[r]); });
    });
}

}  // namespace

LaneInfo analyse_lanes(const Kernel& kernel, const std::vector<bool>& own) {
    LaneInfo info = Analysis(kernel, own, Of::Lanes).run();
    if (!info.item_lanes || kernel.in_groups() || !waits_for_stores(kernel, info, kernel.body)) return info;
    return Analysis(kernel, own, Of::Scalars).run();
}

std::vector<bool> same_in_group(const Kernel& kernel) {
    const LaneInfo info = Analysis(kernel, {}, Of::Group).run();
    std::vector<bool> same;
    for (const LaneShape& s : info.shapes) same.push_back(s.kind == LaneShape::Uniform);
    return same;
}

int region_cost(const Kernel& kernel, const Region& region) {
    int sum = 0;
    for (InstrId id : region.body) sum += instruction_cost(kernel, kernel.instrs[id]);
    return sum;
}

namespace {

struct Widths {
    int widest = 1;
    bool scattered = false;  // has accesses that are not of neighbours
    int chains = 0;          // varying values that the busiest loop under a mask keeps in registers; 0 without such a loop
};

class Measure {
public:
    Measure(const Kernel& kernel, const LaneInfo& info) : kernel_(kernel), info_(info) {}

    Widths run(const Region& region) {
        walk(region);
        return w_;
    }

private:
    bool varying(Value v) const { return !kernel_.values[v].pointer && info_.shapes[v].kind == LaneShape::Varying; }

    void see(Value v, bool stored = false) {
        const DType t = kernel_.values[v].type;
        if ((!stored && !varying(v)) || t == DType::Bool) return;
        w_.widest = std::max(w_.widest, itemsize(computed_in(t)));
    }

    void walk(const Region& region) {
        for (Value v : region.args) see(v);
        for (InstrId id : region.body) {
            const Instr& in = kernel_.instrs[id];
            for (Value v : in.operands) see(v);
            for (Value v : in.results) see(v);
            if (ir::takes_pointer(in.op)) access(in);
            if (info_.masked[id] && in.op != Opcode::If) w_.chains = std::max(w_.chains, registers(in));
            for (ir::RegionId r : in.regions) walk(kernel_.regions[r]);
        }
    }

    void access(const Instr& in) {
        const LaneShape s = info_.shapes[in.operands[1]];
        const bool own = is_private(kernel_, in.operands[0]);
        w_.scattered |= in.op > Opcode::Store || (own && s.kind != LaneShape::Uniform);
        if (own && in.op == Opcode::Store) see(in.operands[2], true);
        if (!own) w_.scattered |= !(s.kind == LaneShape::Uniform || (s.kind == LaneShape::Affine && (s.step == 1 || s.step == -1)));
        if (in.op == Opcode::Store && s.kind != LaneShape::Uniform) see(in.operands[2], true);  // a stored uniform is splat
    }

    /// Varying values that live through a loop: carried, or made outside and read inside.
    int registers(const Instr& in) const {
        std::vector<Value> inside, read;
        for (ir::RegionId r : in.regions) collect(kernel_.regions[r], inside, read);
        int count = 1;
        for (ir::RegionId r : in.regions)
            if (r == in.regions.back())
                for (Value v : kernel_.regions[r].args) count += varying(v);
        std::sort(inside.begin(), inside.end());
        std::sort(read.begin(), read.end());
        read.erase(std::unique(read.begin(), read.end()), read.end());
        for (Value v : read) count += varying(v) && !std::binary_search(inside.begin(), inside.end(), v);
        return count;
    }
    void collect(const Region& region, std::vector<Value>& inside, std::vector<Value>& read) const {
        inside.insert(inside.end(), region.args.begin(), region.args.end());
        for (InstrId id : region.body) {
            const Instr& in = kernel_.instrs[id];
            read.insert(read.end(), in.operands.begin(), in.operands.end());
            inside.insert(inside.end(), in.results.begin(), in.results.end());
            for (ir::RegionId r : in.regions) collect(kernel_.regions[r], inside, read);
        }
    }

    const Kernel& kernel_;
    const LaneInfo& info_;
    Widths w_;
};

}  // namespace

int lane_count(const Kernel& kernel, const LaneInfo& info, const Region& region, int vector_bytes) {
    const Widths w = Measure(kernel, info).run(region);
    int lanes = vector_bytes / w.widest;
    // A loop that runs until its last lane is done waits for its own results: more vectors at a time hide that, as long as they fit
    // registers.
    const int registers = vector_bytes == 64 ? 32 : 16;
    if (w.chains > 0 && !w.scattered) lanes *= 4 * w.chains <= registers - 4 ? 4 : 2 * w.chains <= registers - 2 ? 2 : 1;
    return std::min(lanes, w.scattered ? 16 : 64);
}

}  // namespace pardo::emit
