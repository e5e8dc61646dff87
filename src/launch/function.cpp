// src/launch/function.cpp: from call to program: arguments are checked, and the program for them is looked up or made.
#include "launch/function.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include <pardo/error.h>

#include "array/record.h"
#include "graph/overlap.h"
#include "lang/typing/numbers.h"
#include "launch/lock.h"
#include "launch/report.h"

namespace pardo::launch {
namespace {

using graph::Node;

constexpr int most_dimensions = 3;

/// The last extent of rows that are short, such as coordinates and colours: programs are made for it. Else 0.
std::int64_t short_rows(const Node& leaf) {
    constexpr std::int64_t most = 4;
    const int rank = leaf.shape.size();
    return rank >= 2 && leaf.shape[rank - 1] > 1 && leaf.shape[rank - 1] <= most ? leaf.shape[rank - 1] : 0;
}

/// True if no two arrays share memory.
bool distinct(Arguments arguments) {
    SmallVector<graph::ByteRange, 8> ranges;
    for (const KernelArgument& a : arguments) {
        if (a.kind != KernelArgument::Kind::Array || a.array.size() == 0) continue;
        const graph::ByteRange r = graph::range_of(graph::elements_of(*a.array.node()));
        for (const graph::ByteRange& other : ranges)
            if (r.overlaps(other)) return false;
        ranges.push_back(r);
    }
    return true;
}

void add_value(Words& key, const Scalar& value) {
    std::uint64_t parts[2];
    std::memcpy(parts, &value.c, sizeof parts);
    key.push_back(value.dtype == DType::Bool ? value.b : parts[0]);
    key.push_back(is_complex(value.dtype) ? parts[1] : 0);
}

void force(Arguments arguments) {
    for (const KernelArgument& a : arguments)
        if (a.kind == KernelArgument::Kind::Array) arrays::ensure_leaf(a.array);
}

}  // namespace

std::size_t WordsHash::operator()(const Words& words) const noexcept {
    std::uint64_t h = 0x9e3779b97f4a7c15u;
    for (const std::uint64_t w : words) {
        h = (h ^ w) * 0xff51afd7ed558ccdu;
        h ^= h >> 32;
    }
    return h;
}

void check_range(const std::string& op_name, const NdRange& range) {
    const auto fail = [&](const std::string& text) { throw Error(ErrorCode::Value, op_name + ": " + text); };
    const std::size_t rank = range.global.size();
    if (rank < 1 || rank > most_dimensions) fail("a range has one to three dimensions, not " + std::to_string(rank));
    for (const std::int64_t n : range.global)
        if (n < 0) fail("the range has a negative extent, " + std::to_string(n));
    std::int64_t items = 1;
    bool empty = false;
    for (const std::int64_t n : range.global) empty |= n == 0;
    for (const std::int64_t n : range.global) {
        if (!empty && __builtin_mul_overflow(items, n, &items))
            fail("the range of " + to_string(Extents(range.global)) +
                 " has more items than 2**63 - 1, so it could not be counted through; "
                 "split it into several launches");
    }
    if (range.local.empty()) return;
    if (range.local.size() != rank)
        fail("the global range has " + std::to_string(rank) + " dimensions, the local one " + std::to_string(range.local.size()));
    for (std::size_t d = 0; d < rank; ++d) {
        if (range.local[d] < 1)
            fail("the local range has an extent of " + std::to_string(range.local[d]) + "; groups have at least one item");
        if (range.global[d] % range.local[d] != 0)
            fail("the global range, " + std::to_string(range.global[d]) + " items in dimension " + std::to_string(d) +
                 ", is not a multiple of the local one, " + std::to_string(range.local[d]) +
                 "; round it up, and let items past the end do nothing");
    }
}

UserFunction::UserFunction(std::shared_ptr<const syntax::Function> function, bool takes_item, const KernelOptions& options,
                           std::optional<lang::LoopSpec> loop)
    : function_(std::move(function)),
      label_(function_->name),
      takes_item_(takes_item),
      options_(options),
      loop_(std::move(loop)),
      has_outside_(lang::has_outside(*function_)) {}

void UserFunction::fail(ErrorCode code, const std::string& text) const { throw Error(code, name() + ": " + text); }

std::string UserFunction::parameter(Arguments arguments, std::size_t k) const {
    if (k < arguments.size() && arguments[k].kind == KernelArgument::Kind::Number && !arguments[k].name.empty())
        return "`" + arguments[k].name + "`";
    std::size_t at = 0, top = takes_item_ ? 1 : 0;
    const auto found = [&](const std::string& path, const auto& self) -> std::string {
        const KernelArgument& a = arguments[at];
        if (at++ == k) return path;
        for (std::size_t p = 0; a.kind == KernelArgument::Kind::Tuple && p < a.parts; ++p) {
            const std::string inner = self(path + (a.names.empty() ? "[" + std::to_string(p) + "]" : "." + a.names[p]), self);
            if (!inner.empty()) return inner;
        }
        return {};
    };
    for (; at < arguments.size() && top < function_->params.size(); ++top)
        if (const std::string path = found(function_->params[top], found); !path.empty()) return "`" + path + "`";
    return "argument " + std::to_string(k);
}

void UserFunction::check_count(Arguments arguments) const {
    const std::size_t wanted = function_->params.size() - (takes_item_ ? 1 : 0);
    std::size_t given = arguments.size();
    for (const KernelArgument& a : arguments) given -= a.kind == KernelArgument::Kind::Tuple ? a.parts : 0;
    if (!function_->rest.empty() && given > wanted) return;
    if (given == wanted) return;
    std::string names;  // of those that are missing, or of all
    for (std::size_t k = given < wanted ? given : 0; k < wanted; ++k) names += (names.empty() ? "" : ", ") + ("`" + parameters()[k] + "`");
    const bool many = given > wanted;
    fail(ErrorCode::Type, "takes " + std::to_string(wanted) + (wanted == 1 ? " argument" : " arguments") +
                              (many && wanted > 0 ? " (" + names + ")" : "") + ", but " + std::to_string(given) +
                              (given == 1 ? " was given" : " were given") + (many ? "" : ": there is none for " + names));
}

device::Queue* UserFunction::queue_of(Arguments arguments, const Queue* given) const {
    device::Queue* queue = given ? given->impl() : nullptr;
    auto most = queue ? arrays::Pull::Fixed : arrays::Pull::Canonical;
    for (std::size_t k = 0; k < arguments.size(); ++k) {
        if (arguments[k].kind != KernelArgument::Kind::Array) continue;
        device::Queue* own = arguments[k].array.node()->queue.get();
        if (own == queue) continue;
        const arrays::Pull pull = arrays::pull_of(arguments[k].array);
        if (!queue || pull > most) {
            queue = own;
            most = pull;
        } else if (pull == most) {
            refuse_queue(arguments, k, queue);
        }
    }
    return queue ? queue : Queue().impl();
}

void UserFunction::refuse_queue(Arguments arguments, std::size_t k, const device::Queue* queue, const char* why) const {
    const auto is_there = [&](const KernelArgument& a) {
        return a.kind == KernelArgument::Kind::Array && a.array.node()->queue.get() == queue;
    };
    const auto other = static_cast<std::size_t>(std::ranges::find_if(arguments, is_there) - arguments.begin());
    const device::Device* own = arguments[k].array.node()->queue->device();
    if (own != queue->device() && other < arguments.size()) {  // NumPy's memory is the host's: its queue says nothing to the caller
        const auto foreign = [&](std::size_t a) {
            const graph::Node& node = *arguments[a].array.node();
            return !node.pending() && node.buffer->foreign();
        };
        for (const auto& [host, there] : {std::pair(k, other), std::pair(other, k)}) {
            if (!foreign(host) || foreign(there)) continue;
            const std::string name = parameter(arguments, there), given = parameter(arguments, host);
            const auto bare = [](const std::string& text) { return text.substr(1, text.size() - 2); };
            const std::string place = arguments[there].array.node()->queue->device()->id();
            std::string text = given;
            text.append(" is a NumPy array, or has its memory, and ").append(name).append(" is on ").append(place);
            text.append("; pass pardo.asarray(").append(bare(given)).append(", device=").append(bare(name)).append(".device)");
            fail(ErrorCode::Placement, text);
        }
    }
    fail(ErrorCode::Placement, parameter(arguments, k) + " is on " + (own == queue->device() ? "another queue of " : "a queue of ") +
                                   own->id() + why + ", " + (other < arguments.size() ? parameter(arguments, other) : "the launch") +
                                   " is on a queue of " + queue->device()->id() + "; copy one explicitly: " +
                                   (own == queue->device() ? "x.to_queue(queue)" : "x.to_device(device)") + " or asarray(x, queue=queue)");
}

/// Words that tell programs apart.
Words UserFunction::key_of(Arguments arguments, const NdRange& range, const device::Device* device, bool distinct,
                           std::uint64_t assumed) const {
    Words key;
    key.push_back(reinterpret_cast<std::uint64_t>(device));
    key.push_back(range.global.size() | (distinct ? 8u : 0u));
    if (loop_ && !loop_->parallel) key.push_back(assumed);
    for (const std::int64_t n : range.local) key.push_back(static_cast<std::uint64_t>(n));
    for (const KernelArgument& a : arguments) {
        const auto kind = static_cast<std::uint64_t>(a.kind);
        switch (a.kind) {
            case KernelArgument::Kind::Array: {
                const Node& leaf = *a.array.node();
                const bool rows = is_contiguous(leaf.shape, leaf.strides);
                key.push_back(kind | static_cast<std::uint64_t>(leaf.dtype) << 8 | static_cast<std::uint64_t>(leaf.shape.size()) << 16 |
                              static_cast<std::uint64_t>(short_rows(leaf)) << 40 | (rows ? 1ull << 32 : 0));
                break;
            }
            case KernelArgument::Kind::Number:
                key.push_back(kind | static_cast<std::uint64_t>(a.scalar.dtype) << 8 | (a.scalar.weak ? 1ull << 32 : 0));
                break;
            case KernelArgument::Kind::Constant:
                key.push_back(kind | static_cast<std::uint64_t>(a.scalar.dtype) << 8 | (a.scalar.weak ? 1ull << 32 : 0));
                add_value(key, a.scalar);
                break;
            case KernelArgument::Kind::Local:
                key.push_back(kind | static_cast<std::uint64_t>(a.dtype) << 8 | static_cast<std::uint64_t>(a.extents.size()) << 16);
                for (const std::int64_t n : a.extents) key.push_back(static_cast<std::uint64_t>(n));
                break;
            case KernelArgument::Kind::Tuple:
                key.push_back(kind | (a.columns ? 1ull << 31 : 0) | a.parts << 8 | static_cast<std::uint64_t>(a.names.size()) << 32 |
                              static_cast<std::uint64_t>(a.records) << 56);
                for (const std::string& name : a.names) key.push_back(std::hash<std::string>()(name));
                if (a.structure) key.push_back(reinterpret_cast<std::uint64_t>(a.structure.get()));
                if (a.structure) key.push_back(reinterpret_cast<std::uint64_t>(a.members.get()));
                break;
            case KernelArgument::Kind::Function:
                key.push_back(kind);
                key.push_back(a.function ? reinterpret_cast<std::uint64_t>(a.function.get()) : std::hash<std::string>()(a.name));
                break;
            case KernelArgument::Kind::None: key.push_back(kind); break;
        }
    }
    return key;
}

UserFunction::Owners UserFunction::owners_of(Arguments arguments) {
    Owners out;
    for (const KernelArgument& a : arguments) {
        if (a.function) out.push_back(a.function);
        if (a.structure) out.insert(out.end(), {a.structure, a.members});
    }
    return out;
}

lang::Lowered UserFunction::lowered(const Specialisation& s, const lang::Options& options, lang::OutsideUse* outside) const {
    return loop_ ? lang::lower_loop(function_, *loop_, s.types, options, outside)
                 : lang::lower(function_, takes_item_, s.space, s.types, options, outside);
}

/// Numbers from outside are arguments where the program can be made so; those that it cannot do without the values of become part of it,
/// and are added to `fixed`.
void UserFunction::lower(Specialisation& made, lang::FixedNumbers& fixed) const {
    const std::size_t known = fixed.size();
    std::string why;
    const auto attempt = [&](const lang::FixedNumbers& numbers, bool adds) {
        lang::OutsideUse use{numbers, {}};
        try {
            made.lowered = lowered(made, made.options, &use);
            return true;
        } catch (const Error& e) {
            why = e.message().substr(0, e.message().find('\n'));
            const std::size_t before = fixed.size();
            for (const lang::OutsideNumber& number : use.met)
                if (adds && !lang::fixed_value(fixed, number.get())) fixed.emplace_back(number, number->value());
            if (adds && fixed.size() == before) throw;
            return false;
        }
    };
    std::string first;
    while (!attempt(lang::FixedNumbers(fixed), true))
        if (first.empty()) first = why;
    made.fixed_because.assign(known, "");
    constexpr std::size_t most_tried = 8;  // each costs as much as the whole
    const bool each = fixed.size() - known > 1 && fixed.size() - known <= most_tried;
    for (std::size_t k = known; k < fixed.size();) {
        lang::FixedNumbers fewer = fixed;
        fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(k));
        if (each && attempt(fewer, false)) {
            fixed = std::move(fewer);
        } else {
            made.fixed_because.push_back(each ? why : first);
            ++k;
        }
    }
    if (each) attempt(fixed, false);
    made.fixed = fixed;
}

/// What a program depends on of the arguments. Throws for what the device or the range cannot take.
std::vector<lang::ArgumentType> UserFunction::types_of(Arguments arguments, const NdRange& range, const device::Device* device) const {
    std::vector<lang::ArgumentType> types;
    for (std::size_t k = 0; k < arguments.size(); ++k) {
        const KernelArgument& a = arguments[k];
        lang::ArgumentType type;
        type.dtype = a.kind == KernelArgument::Kind::Local ? a.dtype : a.scalar.dtype;
        switch (a.kind) {
            case KernelArgument::Kind::Array: {
                const Node& leaf = *a.array.node();
                type.kind = lang::ArgumentType::Kind::Array;
                type.dtype = leaf.dtype;
                type.rank = leaf.shape.size();
                type.contiguous = is_contiguous(leaf.shape, leaf.strides);
                type.last = short_rows(leaf);
                break;
            }
            case KernelArgument::Kind::Number:
                type.kind = lang::ArgumentType::Kind::Number;
                type.weak = a.scalar.weak;
                break;
            case KernelArgument::Kind::Constant:
                type.kind = lang::ArgumentType::Kind::Constant;
                type.scalar = a.scalar;
                break;
            case KernelArgument::Kind::Local:
                type.kind = lang::ArgumentType::Kind::Shared;
                type.extents = a.extents;
                if (range.local.empty())
                    fail(ErrorCode::Type,
                         parameter(arguments, k) + " is memory of a group, and a plain Range has no groups; launch over an NdRange");
                break;
            case KernelArgument::Kind::Tuple:
                type.kind = lang::ArgumentType::Kind::Tuple;
                type.parts = a.parts;
                type.names = a.names;
                type.columns = a.columns;
                type.records = a.records;
                type.structure = a.structure;
                type.members = a.members;
                break;
            case KernelArgument::Kind::Function:
                type.kind = lang::ArgumentType::Kind::Function;
                type.function = a.function;
                type.name = a.name;
                break;
            case KernelArgument::Kind::None: type.kind = lang::ArgumentType::Kind::None; break;
        }
        const bool has_dtype = type.kind <= lang::ArgumentType::Kind::Shared && type.kind != lang::ArgumentType::Kind::Constant;
        if (has_dtype && !type.weak && !device->supports(type.dtype))
            fail(ErrorCode::Type,
                 parameter(arguments, k) + " is " + std::string(dtype_name(type.dtype)) + ", which " + device->id() + " does not have");
        types.push_back(std::move(type));
    }
    return types;
}

lang::Options UserFunction::options_for(const device::Device* device, bool distinct) const {
    lang::Options options;
    options.fp64 = device->supports(DType::Float64);
    options.distinct = distinct;
    options.fast_math = options_.fast_math;
    options.library_products = options_.library_products;
    options.truncates = options_.truncates;
    options.lane_blocks = options.threads = device->can(device::Feature::OwnLanes);
    options.own_bytes = device->own_bytes();
    options.teams = device->execution() == device::Execution::Groups;
    options.bounds_check = options_.checks != Checks::None;
    options.check_all = options_.checks == Checks::All;
    return options;
}

/// Notes what the user says of each parameter; of a tuple or a struct it holds for all arrays in it.
void UserFunction::assert_access(Arguments arguments, std::vector<lang::ArgumentType>& types) const {
    if (options_.access.empty()) return;
    std::size_t end = 0, at = 0;  // after the parts of a parameter; which one it is
    for (std::size_t k = 0; k < types.size(); ++k) {
        const bool part = k < end;
        if (!part) {
            at += k > 0;
            end = k + 1;
        }
        if (types[k].kind == lang::ArgumentType::Kind::Tuple) end += types[k].parts;
        const ArgumentUse use = options_.access[at];
        if (use == ArgumentUse::None) continue;
        if (types[k].kind == lang::ArgumentType::Kind::Array)
            types[k].asserted = static_cast<ir::Access>(use);
        else if (!part && types[k].kind != lang::ArgumentType::Kind::Tuple)
            fail(ErrorCode::Type, parameter(arguments, k) + " is listed in access=, which is about arrays, and is none");
    }
}

std::shared_ptr<Specialisation> UserFunction::make(Arguments arguments, const NdRange& range, device::Device* device, bool distinct,
                                                   std::uint64_t assumed, lang::FixedNumbers& fixed) const {
    auto made = std::make_shared<Specialisation>();
    made->types = types_of(arguments, range, device);
    for (std::size_t k = 0; k < std::min<std::size_t>(made->types.size(), 63); ++k) made->types[k].assumed = (assumed >> k & 1) != 0;
    assert_access(arguments, made->types);
    made->options = options_for(device, distinct);
    made->space.rank = static_cast<int>(range.global.size());
    made->space.group_size = range.local;
    if (!range.local.empty()) made->space.sub_group = options_.sub_group_size;
    made->device = device;
    made->options.small_outside = (assumed & small_outside) != 0;
    lower(*made, fixed);
    for (std::size_t k = 0; k < made->types.size(); ++k) {
        const ir::Access done = made->lowered.accesses[k];
        if (made->types[k].asserted != ir::Access::ReadWrite || done == ir::Access::ReadWrite) continue;
        const char* how = !made->lowered.used[k] ? "not used" : done == ir::Access::Read ? "only read" : "only written";
        fail(ErrorCode::Type, parameter(arguments, k) + " is listed as read_write, but " + how);
    }
    made->sites = std::make_shared<const std::vector<lang::Site>>(made->lowered.sites);
    made->variants = std::make_unique<Variants>(made->lowered);
    made->streams = device->can(device::Feature::OwnLanes);
    return made;
}

bool UserFunction::is_small(const KernelArgument& a) {
    constexpr std::int64_t limit = std::int64_t{1} << lang::assumed_bits;
    if (a.kind == KernelArgument::Kind::Array) return std::ranges::all_of(a.array.shape(), [](std::int64_t n) { return n < limit; });
    return a.kind == KernelArgument::Kind::Number && a.scalar.weak && a.scalar.dtype == DType::Int64 && a.scalar.i < limit &&
           a.scalar.i > -limit;
}

std::uint64_t UserFunction::small_ones(Arguments arguments) {
    std::uint64_t small = 0;
    for (std::size_t k = 0; k < std::min<std::size_t>(arguments.size(), 63); ++k)
        if (is_small(arguments[k])) small |= std::uint64_t{1} << k;
    return small;
}

bool UserFunction::are_small(Arguments numbers) {
    return std::ranges::all_of(numbers,
                               [](const KernelArgument& a) { return !a.scalar.weak || a.scalar.dtype != DType::Int64 || is_small(a); });
}

Arguments UserFunction::with_outside(const Specialisation& special, Arguments arguments, std::vector<KernelArgument>& memory) {
    const std::vector<lang::OutsideNumber>& numbers = special.lowered.outside;
    if (numbers.empty()) return arguments;
    memory.reserve(arguments.size() + numbers.size());
    memory.assign(arguments.begin(), arguments.end());
    const std::vector<Scalar> values = syntax::Outside::values(numbers);
    for (std::size_t k = 0; k < numbers.size(); ++k) {
        KernelArgument& a = memory.emplace_back();
        a.scalar = values[k];
        a.name = numbers[k]->name;
    }
    return memory;
}

Arguments UserFunction::on_queue(const Specialisation& special, Arguments arguments, device::Queue* queue,
                                 std::vector<KernelArgument>& memory) const {
    const lang::Lowered& lowered = special.lowered;
    for (std::size_t k = 0; k < arguments.size(); ++k) {
        if (arguments[k].kind != KernelArgument::Kind::Array || !lowered.used[k]) continue;
        const Array& x = arguments[k].array;
        if (x.node()->queue.get() == queue) continue;
        if (lowered.accesses[k] != ir::Access::Read) refuse_queue(arguments, k, queue, " and written");
        if (arguments.data() != memory.data()) {
            memory.assign(arguments.begin(), arguments.end());
            arguments = memory;
        }
        memory[k].array = arrays::following(memory[k].array, queue, name().c_str());
    }
    return arguments;
}

const lang::Fit* UserFunction::misfit(const Specialisation& special, Arguments arguments) {
    for (const lang::Fit& fit : special.lowered.fits)
        if (!lang::fits(lang::number(arguments[static_cast<std::size_t>(fit.argument)].scalar), fit.dtype)) return &fit;
    return nullptr;
}

void UserFunction::check_fits(const Specialisation& special, Arguments arguments) const {
    const lang::Fit* fit = misfit(special, arguments);
    if (!fit) return;
    const auto k = static_cast<std::size_t>(fit->argument);
    const Scalar& given = arguments[k].scalar;
    throw lang::problem(ErrorCode::Overflow, *fit->function, fit->place,
                        parameter(arguments, k) + " is " +
                            (given.dtype == DType::UInt64 ? std::to_string(given.u) : std::to_string(given.i)) + ", which does not fit " +
                            std::string(dtype_name(fit->dtype)) + ", as it has to here; take a wider dtype");
}

void UserFunction::refuse_dimensions(const Specialisation& special, const NdRange& range) const {
    std::string extents;
    for (const std::int64_t n : range.global) extents += (extents.empty() ? "" : ", ") + std::to_string(n);
    const std::string first = std::to_string(range.global[0]), second = std::to_string(range.global[1]);
    const std::string cuda = range.global.size() == 2
                                 ? "CUDA's [" + extents + "] is NdRange(" + first + " * " + second + ", " + second + ")"
                                 : "CUDA's [groups, items, stream] is [NdRange(groups * items, items), queue]";
    fail(ErrorCode::Value, "range (" + extents + ") has " + std::to_string(range.global.size()) + " dimensions, `" + name() +
                               "` asks for " + std::to_string(special.lowered.asked) + "; " + cuda +
                               ", and a range of that many items Range(" + extents + ")");
}

std::shared_ptr<Specialisation> UserFunction::prepare(Arguments arguments, const NdRange& range, device::Queue* queue,
                                                      std::uint64_t assumed) {
    force(arguments);
    const bool apart = distinct(arguments);
    Words key = key_of(arguments, range, queue->device(), apart, assumed);
    lang::FixedNumbers fixed;
    const int types = key.size();  // after these come values of numbers from outside
    const auto add_fixed = [&] {
        for (const auto& [number, value] : fixed) add_value(key, value);
    };
    {
        const std::lock_guard lock(lock_of(this));
        if (!fixed_.empty()) {
            if (const auto found = fixed_.find(key); found != fixed_.end())
                for (const lang::OutsideNumber& number : found->second.numbers) fixed.emplace_back(number, number->value());
            add_fixed();
        }
        if (last_ && last_->first == key) return last_->second;
        if (const auto found = known_.find(key); found != known_.end()) {
            last_ = &*found;
            found->second->used = ++uses_;
            return found->second;
        }
        if (const auto found = refused_.find(key); found != refused_.end()) throw Error(found->second.error);
    }
    std::shared_ptr<Specialisation> made;
    const std::size_t before = fixed.size();
    const auto more_fixed = [&] {  // with the lock
        if (fixed.size() == before) return;
        key.resize(types);
        if (fixed_.size() >= most_programs) fixed_.clear();
        Fixed& entry = fixed_[key];
        entry = {{}, owners_of(arguments)};
        for (const auto& [number, value] : fixed) entry.numbers.push_back(number);
        add_fixed();
    };
    try {
        made = make(arguments, range, queue->device(), apart, assumed, fixed);
    } catch (const Error& e) {
        const std::lock_guard lock(lock_of(this));
        more_fixed();
        if (refused_.size() >= most_programs) refused_.clear();
        refused_.try_emplace(key, Refused{e, owners_of(arguments)});
        throw;
    }
    std::vector<std::shared_ptr<Specialisation>> dropped;  // without the lock
    const std::lock_guard lock(lock_of(this));
    more_fixed();
    if (known_.size() >= most_programs) dropped = drop_old();
    made->number = made_++;
    made->used = ++uses_;
    return known_.try_emplace(key, std::move(made)).first->second;
}

std::vector<std::shared_ptr<Specialisation>> UserFunction::drop_old() {
    std::vector<std::uint64_t> uses;
    for (const auto& [key, special] : known_) uses.push_back(special->used);
    const auto middle = uses.begin() + static_cast<std::ptrdiff_t>(uses.size() / 4);
    std::ranges::nth_element(uses, middle);
    std::vector<std::shared_ptr<Specialisation>> dropped;
    for (auto at = known_.begin(); at != known_.end();) {
        if (&*at == last_ || at->second->used >= *middle) {
            ++at;
            continue;
        }
        dropped.push_back(std::move(at->second));
        at = known_.erase(at);
    }
    return dropped;
}

std::vector<std::shared_ptr<Specialisation>> UserFunction::programs() const {
    std::vector<std::shared_ptr<Specialisation>> out;
    {
        const std::lock_guard lock(lock_of(this));
        for (const auto& [key, special] : known_) out.push_back(special);
    }
    std::sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a->number < b->number; });
    return out;
}

std::string UserFunction::types(const Specialisation& special) const {
    lang::Options options = special.options;
    options.record_types = true;
    lang::OutsideUse use{special.fixed, {}};
    return types_text(lowered(special, options, &use));
}

std::string UserFunction::head(const Specialisation& special) const {
    return head_text(special, *function_, takes_item_, loop_ ? &*loop_ : nullptr);
}

std::string UserFunction::types() const {
    std::string text;
    for (const auto& special : programs()) text += head(*special) + types(*special);
    return text;
}

std::string UserFunction::diagnostics() const {
    std::string text;
    for (const auto& special : programs()) text += head(*special) + lanes_text(*special);
    return text;
}

std::string UserFunction::inspect(const std::string& what) const {
    std::string text;
    for (const auto& special : programs()) text += head(*special) + special->device->inspect(special->variants->shown().kernel, 0, what);
    return text;
}

Variant& UserFunction::variant(const Specialisation& s, Arguments arguments, std::span<const std::int64_t> extents,
                               const LoopArguments& loop) {
    constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
    Variants::Inputs inputs;
    for (const ir::RangeInput& input : s.variants->inputs()) {
        if (s.device->can(device::Feature::TakesAll)) [[unlikely]] {  // for launches of other sizes: all checks
            inputs.push_back({std::numeric_limits<std::int64_t>::min(), most});
            continue;
        }
        const auto point = [&](std::int64_t n) { inputs.push_back({n, n}); };
        if (input.extent) {
            point(extents[input.index]);
            continue;
        }
        const lang::Slot& slot = s.lowered.slots[input.index];
        const auto node = [&]() -> const Node& { return *arguments[static_cast<std::size_t>(slot.argument)].array.node(); };
        switch (slot.kind) {
            case lang::Slot::Kind::Extent: point(node().shape[slot.dimension]); break;
            case lang::Slot::Kind::Stride: point(node().strides[slot.dimension]); break;
            case lang::Slot::Kind::Count: point(loop.count); break;
            case lang::Slot::Kind::Block: point(loop.block); break;
            default: {
                const Scalar n = arguments[static_cast<std::size_t>(slot.argument)].scalar.cast(s.lowered.kernel.params[input.index].type);
                const bool large = kind_of(n.dtype) == DKind::Unsigned && n.u > static_cast<std::uint64_t>(most);
                inputs.push_back(large ? ir::Range{0, most} : ir::Range{n.i, n.i});
            }
        }
    }
    return s.variants->choose(inputs);
}

std::size_t UserFunction::specialisations() const {
    const std::lock_guard lock(lock_of(this));
    return known_.size();
}

}  // namespace pardo::launch
