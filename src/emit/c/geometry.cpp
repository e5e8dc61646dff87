// src/emit/c/geometry.cpp: how the items of a kernel are laid over the work-groups of a device, and how many groups a launch takes.
#include "emit/c/geometry.h"

#include <algorithm>
#include <bit>
#include <vector>

#include <pardo/error.h>

#include "ir/rules.h"

namespace pardo::emit {
namespace {

constexpr int gpu_group = 256, cpu_group = 4096, cpu_item_group = 16;
constexpr int most_columns = 4, most_rows = 4;
constexpr int most_shared_rows = 8, most_elements = 32;  // where rows share what they read; elements an item, written out
constexpr std::int64_t long_loop = 32768;                // iterations that keep a large team busy
constexpr int most_steps = 16;                           // values of a row that an item may keep in registers
constexpr std::int64_t heavy_operations = 4;
constexpr int stencil_loads = 3;              // of one place each, in more than one dimension
constexpr std::int64_t bytes_in_flight = 16;  // of each array, for an item: what one-word items lack to fill a GPU's memory bus
constexpr std::int64_t groups_per_unit = 16;  // fewer groups a compute unit: items take less each
constexpr double most_on_stack = 1 << 20;     // of the arrays of a group's items
constexpr std::int64_t short_line = 64;       // a last dimension up to this is not a line
constexpr std::int64_t narrow_limit = std::int64_t(1) << 31;
constexpr std::int64_t largest_group = (1 << 25) - 1;  // that encode() holds; no device has such
constexpr std::int64_t deepest_group = 64;             // items in the language's third dimension: more are refused by NVIDIA's devices

std::int64_t saturated_product(std::span<const std::int64_t> extents) {
    std::int64_t product = 1;
    for (const std::int64_t n : extents) {
        if (n == 0) return 0;
        if (__builtin_mul_overflow(product, n, &product)) return INT64_MAX;
    }
    return product;
}

int floor_power(std::int64_t n) { return n < 1 ? 1 : 1 << std::min(30, 63 - std::countl_zero(static_cast<std::uint64_t>(n))); }
int ceil_power(std::int64_t n) { return n <= 1 ? 1 : 1 << std::min(30, 64 - std::countl_zero(static_cast<std::uint64_t>(n - 1))); }

/// Bytes of the narrowest element that the kernel moves.
int narrowest(const ir::Kernel& kernel) {
    int width = 16;
    for (const ir::Param& p : kernel.params) {
        if (p.pointer) width = std::min(width, itemsize(p.type));
    }
    return width;
}

/// Bytes of the widest element that the kernel reads.
int widest_read(const ir::Kernel& kernel) {
    int width = 1;
    for (const ir::Param& p : kernel.params) {
        if (p.pointer && p.access != ir::Access::Write) width = std::max(width, itemsize(p.type));
    }
    return width;
}

/// Complex sums are two sums; other reductions of complex numbers become serial loops (ir::lower_complex).
bool has_lanes_loop(const ir::Kernel& kernel) {
    return std::any_of(kernel.instrs.begin(), kernel.instrs.end(), [&](const ir::Instr& in) {
        if (!ir::is_lanes_loop(in)) return false;
        for (int k = 0; k < in.combines().size(); ++k) {
            if (is_complex(kernel.values[in.results[k]].type) && in.combines()[k] != ir::Combine::Add) return false;
        }
        return true;
    });
}

/// By value: the dimensions of the range that it depends on.
std::vector<std::uint32_t> dependences(const ir::Kernel& kernel) {
    std::vector<std::uint32_t> dims(kernel.values.size(), 0);
    const auto visit = [&](const auto& self, const ir::Region& region) -> void {
        for (const ir::InstrId id : region.body) {
            const ir::Instr& in = kernel.instrs[id];
            std::uint32_t own = in.op == ir::Opcode::Dim ? 1u << in.index() : 0;
            for (const ir::Value v : in.operands) own |= dims[v];
            for (const ir::RegionId r : in.regions) {
                for (const ir::Value v : kernel.regions[r].args) dims[v] = own;
                self(self, kernel.regions[r]);
                for (const ir::InstrId inner : kernel.regions[r].body) {
                    for (const ir::Value v : kernel.instrs[inner].results) own |= dims[v];
                }
            }
            for (const ir::Value v : in.results) dims[v] = own;
        }
    };
    visit(visit, kernel.body);
    return dims;
}

/// Whether items of several rows load less: neighbouring rows read the same elements, which stay in registers, or (stencils) in a cache
/// of the group's own.
enum class RowGain : std::uint8_t { None, Shared, Stencil };
RowGain gain_by_rows(const ir::Kernel& kernel) {
    if (kernel.rank < 2) return RowGain::None;
    const std::vector<std::uint32_t> dims = dependences(kernel);
    const std::uint32_t column = 1u << (kernel.rank - 1), row = 1u << (kernel.rank - 2);
    int shared = 0, own = 0;
    for (const ir::Instr& in : kernel.instrs) {
        if (in.op != ir::Opcode::Load || !(dims[in.operands[1]] & column)) continue;
        ++(dims[in.operands[1]] & row ? own : shared);
    }
    return shared > 0 ? RowGain::Shared : own >= stencil_loads ? RowGain::Stencil : RowGain::None;
}

/// Bytes of the widest value that a lanes loop combines.
int widest_sum(const ir::Kernel& kernel) {
    int width = 1;
    for (const ir::Instr& in : kernel.instrs) {
        if (!ir::is_lanes_loop(in)) continue;
        for (int k = 0; k < in.combines().size(); ++k) width = std::max(width, itemsize(kernel.values[in.results[k]].type));
    }
    return width;
}

/// Calls and divisions: what hides no memory access, but wants many of them under way.
bool is_heavy(const ir::Kernel& kernel) {
    return std::count_if(kernel.instrs.begin(), kernel.instrs.end(),
                         [](const ir::Instr& in) { return in.op == ir::Opcode::Call || in.op == ir::Opcode::Div; }) >= heavy_operations;
}

/// Branches of which each copy of an item multiplies the ways through the others: NVRTC took eight minutes for four copies of eleven.
bool is_branched(const ir::Kernel& kernel) {
    constexpr std::int64_t many = 6;
    return std::count_if(kernel.instrs.begin(), kernel.instrs.end(), [](const ir::Instr& in) { return in.op == ir::Opcode::If; }) >= many;
}

/// Items of a team would each do them, or see only their own.
bool wants_one_item(const ir::Kernel& kernel) {
    return !kernel.arrays.empty() || std::any_of(kernel.instrs.begin(), kernel.instrs.end(), [](const ir::Instr& in) {
        return in.op == ir::Opcode::Atomic || in.op == ir::Opcode::CompareExchange;
    });
}

/// Bytes of an item's own arrays. On a processor the stack of a thread may hold those of all items of a group.
double own_bytes(const ir::Kernel& kernel) {
    double bytes = 0;
    for (const ir::ArrayInfo& a : kernel.arrays) {
        if (a.space == ir::Space::Private) bytes += static_cast<double>(a.count) * itemsize(a.type);
    }
    return bytes;
}

/// Items take as long as their values want.
bool has_open_loop(const ir::Kernel& kernel) {
    return std::any_of(kernel.instrs.begin(), kernel.instrs.end(), [](const ir::Instr& in) { return in.op == ir::Opcode::While; });
}

/// What the geometry asks of a kernel, one question at a time.
class OfKernel {
public:
    explicit OfKernel(const ir::Kernel& kernel) : kernel_(kernel) {}
    bool in_groups() const { return kernel_.in_groups(); }
    std::int64_t group_items() const { return in_groups() ? saturated_product(kernel_.group_size) : 0; }
    bool lanes() const { return kernel_.lanes; }
    /// Whether items of the language may share the loops of one of the kernel.
    bool shares() const { return !kernel_.lanes && has_lanes_loop(kernel_) && !wants_one_item(kernel_); }
    bool several_loops() const { return std::count_if(kernel_.instrs.begin(), kernel_.instrs.end(), ir::is_lanes_loop) >= 2; }
    bool heavy() const { return is_heavy(kernel_); }
    bool branched() const { return is_branched(kernel_); }
    bool open_loop() const { return has_open_loop(kernel_); }
    RowGain rows() const { return gain_by_rows(kernel_); }
    int narrowest() const { return emit::narrowest(kernel_); }
    int widest_read() const { return emit::widest_read(kernel_); }
    int widest_sum() const { return emit::widest_sum(kernel_); }
    double own_bytes() const { return emit::own_bytes(kernel_); }

private:
    const ir::Kernel& kernel_;
};

/// The same of a kernel that is not there any more.
class OfTraits {
public:
    explicit OfTraits(const CTraits& traits) : t_(traits) {}
    bool in_groups() const { return t_.group_items != 0; }
    std::int64_t group_items() const { return t_.group_items; }
    bool lanes() const { return t_.lanes != 0; }
    bool shares() const { return t_.shares != 0; }
    bool several_loops() const { return t_.several_loops != 0; }
    bool heavy() const { return t_.heavy != 0; }
    bool branched() const { return t_.branched != 0; }
    bool open_loop() const { return t_.open_loop != 0; }
    RowGain rows() const { return static_cast<RowGain>(t_.rows); }
    int narrowest() const { return static_cast<int>(t_.narrowest); }
    int widest_read() const { return static_cast<int>(t_.widest_read); }
    int widest_sum() const { return static_cast<int>(t_.widest_sum); }
    double own_bytes() const { return static_cast<double>(t_.own_bytes); }

private:
    const CTraits& t_;
};

template <class Facts> CGeometry team_geometry(const Facts& kernel, const device::LaunchShape& shape, const CFeatures& features) {
    CGeometry g;
    g.mapping = CMapping::Team;
    const std::int64_t items = saturated_product(shape.extents);
    g.wide = items >= narrow_limit;
    const int most = std::min(floor_power(features.max_group_size), 1024);
    const int width = kernel.widest_read();
    g.unroll = width >= 16 ? 2 : width == 8 ? 4 : 8;
    if (features.cpu) {
        g.group_size = std::min({most, cpu_item_group, ceil_power(items / (4 * std::max(features.compute_units, 1)) + 1)});
        g.unroll *= 2;
    } else {
        // Long loops with few items want large teams; otherwise each item of the team gets some iterations to overlap.
        const std::int64_t wanted = shape.innermost / (items >= 64 * features.compute_units ? 4 : 1);
        const bool large = items < features.compute_units || shape.innermost >= long_loop;
        g.team = std::min({most, !large ? gpu_group : kernel.widest_sum() <= 4 ? 1024 : 512, std::max(floor_power(wanted), 1)});
        if (features.sub_group < 2) {
            // Without shuffles a team is a whole group, and small groups leave a GPU idle.
            g.team = shape.innermost <= 8 ? 1 : std::max(g.team, std::min(most, 32));
            g.group_size = g.team == 1 ? std::min(most, gpu_group) : g.team;
        } else {
            if (g.team > features.sub_group && g.team < 2 * features.sub_group) g.team = features.sub_group;
            // Where all items of a sub-group have to come to a shuffle, parts of one are not teams.
            if (!features.target->partial_sub_groups && g.team < features.sub_group) g.team = shape.innermost <= 8 ? 1 : features.sub_group;
            g.group_size = std::max(g.team, g.team <= features.sub_group ? std::min(most, 128) : g.team);
        }
        while (g.unroll > 1 && std::int64_t(g.unroll) * g.team > shape.innermost) g.unroll /= 2;
        const std::int64_t steps = (shape.innermost + g.team - 1) / g.team;
        if (kernel.several_loops() && steps <= most_steps) {
            g.steps = static_cast<int>(steps);
            g.whole = shape.even && steps * g.team == shape.innermost;
        }
    }
    return g;
}

}  // namespace

device::ShapeClass CGeometry::encode() const {
    if (mapping == CMapping::Items) {
        return (static_cast<device::ShapeClass>(mapping) & 3) | (static_cast<device::ShapeClass>(mapping) >> 2) << 28 |
               static_cast<device::ShapeClass>(wide) << 2 | static_cast<device::ShapeClass>(group_size) << 3 | 1u << 31;
    }
    const auto log = [](int n) { return static_cast<device::ShapeClass>(std::countr_zero(static_cast<unsigned>(n))); };
    return (static_cast<device::ShapeClass>(mapping) & 3) | (static_cast<device::ShapeClass>(mapping) >> 2) << 28 |
           static_cast<device::ShapeClass>(wide) << 2 | log(group_size) << 3 | log(columns) << 7 | log(rows) << 10 | log(team) << 13 |
           log(unroll) << 17 | static_cast<device::ShapeClass>(steps) << 21 | static_cast<device::ShapeClass>(whole) << 27 | 1u << 31;
}

CGeometry CGeometry::decode(device::ShapeClass code) {
    const auto power = [&](int shift, unsigned mask) { return 1 << (code >> shift & mask); };
    CGeometry g;
    g.mapping = static_cast<CMapping>((code & 3) | (code >> 28 & 1) << 2);
    g.wide = code >> 2 & 1;
    if (g.mapping == CMapping::Items) {
        g.group_size = static_cast<int>(code >> 3 & largest_group);
        return g;
    }
    g.group_size = power(3, 15);
    g.columns = power(7, 7);
    g.rows = power(10, 7);
    g.team = power(13, 15);
    g.unroll = power(17, 15);
    g.steps = static_cast<int>(code >> 21 & 63);
    g.whole = code >> 27 & 1;
    return g;
}

CGroups groups_of(const ir::Kernel& kernel) {
    return groups_of({kernel.group_size.begin(), kernel.group_size.end()}, ir::has_shuffles(kernel));
}

CGroups groups_of(std::span<const std::int64_t> size, bool shuffles) {
    CGroups g;
    g.size = SmallVector<std::int64_t, 3>(size);
    int next = 0;
    for (int d = g.size.size() - 1; d >= 0; --d) next += g.size[d] > 1;
    g.axis.assign(g.size.size(), -1);
    const std::int64_t all = g.items();
    g.flat = next > 3 || shuffles;
    next = 0;
    for (int d = g.size.size() - 1; d >= 0 && !g.flat; --d) {
        if (g.size[d] == 1) continue;
        g.flat = next == 2 && g.size[d] > deepest_group;
        g.axis[d] = static_cast<std::int8_t>(next);
        g.local[static_cast<std::size_t>(next++)] = static_cast<int>(std::min(g.size[d], largest_group));
    }
    if (!g.flat) return g;
    g.axis.assign(g.size.size(), -1);
    g.local = {static_cast<int>(std::min(all, largest_group)), 1, 1};
    return g;
}

std::int64_t CGroups::items() const { return saturated_product(size); }

std::int64_t CGroups::count(const std::string& kernel, std::span<const std::int64_t> extents) const {
    std::int64_t groups = 1;
    for (int d = 0; d < size.size(); ++d) {
        const std::int64_t n = extents[static_cast<std::size_t>(d)];
        if (n < 0 || n % size[d] != 0) {
            throw Error(ErrorCode::Value, "launch: kernel " + kernel + " has groups of " + std::to_string(size[d]) +
                                              " items in dimension " + std::to_string(d) + ", and " + std::to_string(n) +
                                              " items are not a multiple of that; round the range up, and test the index in the kernel");
        }
        if (__builtin_mul_overflow(groups, n / size[d], &groups)) groups = INT64_MAX;
    }
    return groups;
}

std::int64_t group_bytes(const ir::Kernel& kernel) {
    std::int64_t bytes = 0;
    for (const ir::ArrayInfo& a : kernel.arrays) {
        if (a.space != ir::Space::Group) continue;
        std::int64_t own = 0;
        if (__builtin_mul_overflow(a.count, std::int64_t(itemsize(a.type)), &own) ||
            __builtin_add_overflow(bytes, (own + array_alignment - 1) / array_alignment * array_alignment, &bytes))
            return INT64_MAX;
    }
    return bytes;
}

void check_groups(const ir::Kernel& kernel, const CGroupLimits& limits, const std::string& device_name) {
    if (!kernel.in_groups()) return;
    const CGroups g = groups_of(kernel);
    std::string size;
    for (int d = 0; d < g.size.size(); ++d) size.append(d ? " x " : "").append(std::to_string(g.size[d]));
    const auto refuse = [&](const std::string& what, std::int64_t most, const std::string& rest) {
        throw Error(ErrorCode::Value,
                    kernel.name + ": groups of " + size + what + device_name + " takes at most " + std::to_string(most) + rest);
    };
    if (g.items() > std::min(limits.items, largest_group))
        refuse(g.size.size() > 1 ? " = " + std::to_string(g.items()) + " items: " : " items: ", limits.items, "; make the groups smaller");
    for (std::size_t d = 0; d < g.local.size() && d < limits.dimensions.size(); ++d) {
        if (g.local[d] > limits.dimensions[d])
            refuse(" items: ", limits.dimensions[d], " where this has " + std::to_string(g.local[d]) + "; make the groups smaller there");
    }
    if (const std::int64_t bytes = group_bytes(kernel); bytes > limits.bytes) {
        throw Error(ErrorCode::Compile, kernel.name + ": the arrays that a group shares take " + std::to_string(bytes) + " bytes: " +
                                            device_name + " has " + std::to_string(limits.bytes) + " for a group; make them smaller");
    }
}

namespace {

template <class Facts> CGeometry chosen(const Facts& kernel, const device::LaunchShape& shape, const CFeatures& features) {
    if (kernel.in_groups()) {
        CGeometry g;
        g.mapping = CMapping::Items;
        g.wide = saturated_product(shape.extents) >= narrow_limit;
        g.group_size = static_cast<int>(std::min(kernel.group_items(), largest_group));
        return g;
    }
    if (kernel.shares()) return team_geometry(kernel, shape, features);
    CGeometry g;
    const std::int64_t items = saturated_product(shape.extents);
    g.wide = items >= narrow_limit;
    const int most = floor_power(features.max_group_size);
    if (!kernel.lanes()) {
        g.mapping = CMapping::Team;
        g.group_size = std::min(most, features.cpu ? cpu_item_group : gpu_group);
        const double own = kernel.own_bytes();
        while (features.cpu && g.group_size > 1 && g.group_size * own > most_on_stack) g.group_size /= 2;
        return g;
    }
    const std::size_t rank = shape.extents.size();
    const std::int64_t line = rank ? shape.extents[rank - 1] : 1;
    if (features.cpu && features.vector_loops) {
        g.mapping = CMapping::Loop;
        const std::int64_t enough = 8 * std::max(features.compute_units, 1);
        while (line > 0 && 2 * g.rows * line <= loop_stretch && g.rows < 128 && items / (2 * g.rows * line) >= enough) g.rows *= 2;
        return g;
    }
    if (rank > 1 && line <= short_line) g.mapping = CMapping::Flat;
    if (features.cpu) {
        g.group_size = std::min(most, std::clamp(ceil_power(g.mapping == CMapping::Flat ? items : line), 1, cpu_group));
        if (g.mapping == CMapping::Line) g.mapping = CMapping::Range;
        return g;
    }
    g.group_size = std::min(most, gpu_group);
    if (g.mapping == CMapping::Line && rank > 1 && g.group_size > tile_width && kernel.open_loop() &&
        shape.extents[rank - 2] >= g.group_size / tile_width) {
        g.mapping = CMapping::Tile;
        return g;
    }
    while (g.mapping == CMapping::Line && rank > 1 && g.group_size > 32 && g.group_size / 2 >= line) g.group_size /= 2;
    if (kernel.branched()) return g;
    const std::int64_t enough = groups_per_unit * std::max(features.compute_units, 1);
    const int weight = kernel.heavy() ? 2 : 1;
    const auto wanted = static_cast<int>(std::clamp<std::int64_t>(weight * bytes_in_flight / kernel.narrowest(), 1, weight * most_columns));
    const std::int64_t along = g.mapping == CMapping::Line && rank > 1 ? line : items;
    while (g.columns < wanted && items / (std::int64_t(g.group_size) * 2 * g.columns) >= enough && g.group_size * 2 * g.columns <= along)
        g.columns *= 2;
    const RowGain gain = g.mapping == CMapping::Line ? kernel.rows() : RowGain::None;
    if (gain != RowGain::None) {
        if (gain == RowGain::Stencil) g.columns = std::min(g.columns, 2);  // a band is as high as it is wide for the cache
        const std::int64_t before = shape.extents[rank - 2];
        const int most_here = gain == RowGain::Shared ? std::min(most_shared_rows, most_elements / g.columns) : most_rows;
        while (g.rows < most_here && items / (std::int64_t(g.group_size) * g.columns * 2 * g.rows) >= enough && 2 * g.rows <= before)
            g.rows *= 2;
    }
    return g;
}

}  // namespace

CGeometry choose_geometry(const ir::Kernel& kernel, const device::LaunchShape& shape, const CFeatures& features) {
    return chosen(OfKernel(kernel), shape, features);
}

CGeometry choose_geometry(const CTraits& traits, const device::LaunchShape& shape, const CFeatures& features) {
    return chosen(OfTraits(traits), shape, features);
}

CTraits::CTraits(const ir::Kernel& kernel) {
    const OfKernel of(kernel);
    lanes = of.lanes();
    shares = of.shares();
    several_loops = of.several_loops();
    heavy = of.heavy();
    branched = of.branched();
    open_loop = of.open_loop();
    rows = static_cast<std::int64_t>(of.rows());
    narrowest = of.narrowest();
    widest_read = of.widest_read();
    widest_sum = of.widest_sum();
    own_bytes = static_cast<std::int64_t>(std::min(of.own_bytes(), 0x1p62));
    group_items = of.group_items();
    group_bytes = kernel.in_groups() ? emit::group_bytes(kernel) : 0;
    shuffles = kernel.in_groups() && ir::has_shuffles(kernel);
}

namespace {

/// Their fields in order.
constexpr std::int64_t CTraits::*fields_of_traits[CTraits::count] = {
    &CTraits::lanes,     &CTraits::shares,      &CTraits::several_loops, &CTraits::heavy,       &CTraits::branched,
    &CTraits::open_loop, &CTraits::rows,        &CTraits::narrowest,     &CTraits::widest_read, &CTraits::widest_sum,
    &CTraits::own_bytes, &CTraits::group_items, &CTraits::group_bytes,   &CTraits::shuffles};

}  // namespace

std::array<std::int64_t, CTraits::count> CTraits::numbers() const {
    std::array<std::int64_t, count> all{};
    for (std::size_t i = 0; i < count; ++i) all[i] = this->*fields_of_traits[i];
    return all;
}

CTraits CTraits::of(const std::array<std::int64_t, count>& numbers) {
    CTraits traits;
    for (std::size_t i = 0; i < count; ++i) traits.*fields_of_traits[i] = numbers[i];
    return traits;
}

std::array<std::int64_t, 3> group_counts(const CGeometry& g, std::span<const std::int64_t> extents) {
    const std::size_t rank = extents.size();
    if (g.mapping != CMapping::Range || rank == 0) return {group_count(g, extents), 1, 1};
    return {(extents[rank - 1] + g.group_size - 1) / g.group_size, rank > 1 ? extents[rank - 2] : 1,
            rank > 2 ? saturated_product(extents.first(rank - 2)) : 1};
}

std::int64_t group_count(const CGeometry& g, std::span<const std::int64_t> extents) {
    const auto cover = [](std::int64_t n, std::int64_t part) { return n / part + (n % part != 0); };
    const std::int64_t items = saturated_product(extents);
    if (items == 0) return 0;
    if (g.mapping == CMapping::Team) return cover(items, g.group_size / g.team);
    const std::int64_t tile = std::int64_t(g.group_size) * g.columns;
    if (g.mapping == CMapping::Flat) return cover(items, tile);
    const std::size_t rank = extents.size();
    if (rank == 0) return 1;
    if (g.mapping == CMapping::Tile) {
        const std::int64_t rows = extents[rank - 2];
        return cover(extents[rank - 1], tile_width) * cover(rows, g.group_size / tile_width) * (items / extents[rank - 1] / rows);
    }
    if (g.mapping == CMapping::Loop) return cover(extents[rank - 1], loop_stretch) * cover(items / extents[rank - 1], g.rows);
    std::int64_t groups = cover(extents[rank - 1], tile);
    for (std::size_t d = 0; d + 1 < rank; ++d) groups *= d + 2 == rank ? cover(extents[d], g.rows) : extents[d];
    return groups;
}

}  // namespace pardo::emit
