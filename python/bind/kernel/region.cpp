// python/bind/kernel/region.cpp: calls of a region of Cython's with the shapes of an earlier call, without Python in between.
#include <pardo/binding/kernel.h>

#include <algorithm>
#include <limits>
#include <memory>

#include "late_results.h"
#include "present.h"
#include "region.h"

namespace bind {
namespace {

using namespace region;

constexpr std::size_t most_kept = 32;

class Region {
public:
    Region(std::vector<Parameter> parameters, bool chosen, PresentTable& host)
        : parameters_(std::move(parameters)), chosen_(chosen), host_(host) {
        for (const Parameter& p : parameters_) {
            numbers_ += p.rank < 0;
            words_ += p.rank < 0 ? 0 : 1 + 2 * static_cast<std::size_t>(p.rank);
        }
    }

    /// Runs it: its results, or nothing where that is for Python. `words`: of each array its address, shape and strides; then the numbers.
    std::optional<nb::tuple> again(const std::int64_t* words, const nb::tuple& numbers) {
        const std::optional<bool> off = offload_is_off();
        if (kept_.empty() || may_be_plain_python() || !off) return {};
        LateResults* late = nullptr;
        PresentTable* const table = target(late, *off);
        if (!table || nb::len(numbers) != numbers_) return {};
        const Borrowed borrowed(*this);
        RunningCall& call = *borrowed.call;
        read(words, numbers, *table, call);
        const auto known = [&](const std::shared_ptr<Kept>& k) { return k->key == call.key; };
        if (last_ >= kept_.size() || !known(kept_[last_])) {
            const auto found = std::ranges::find_if(kept_, known);
            if (found == kept_.end()) return {};
            last_ = static_cast<std::size_t>(found - kept_.begin());
        }
        const std::shared_ptr<Kept> kept = kept_[last_];
        if (!placed(*kept, *table, call, late) || !run(*kept, *table, call, numbers, late)) return {};
        ++hits;
        moved = kept->moved;
        if (call.given_back.is_valid()) return nb::borrow<nb::tuple>(call.given_back);
        if (kept->results.empty()) return nb::tuple();
        nb::list out;
        for (const std::size_t k : kept->results) out.append(nb::steal(scalar_to_python(call.results[k])));
        return nb::tuple(out);
    }

    /// `loops`: for each its program, arguments, counts, chunk, what stands for each argument (a parameter of the region; behind these a
    /// result of the loops before; -1: what is given here), and the arguments that its reductions begin with.
    void keep(const Ints& words, const nb::tuple& numbers, PresentTable& table, const nb::list& loops, std::string name,
              const std::vector<std::string>& maps, std::vector<std::size_t> results, nb::object copied, nb::object statements) {
        if (words.size() != words_ || nb::len(numbers) != numbers_) return;
        RunningCall call;
        read(words.data(), numbers, table, call);
        auto kept = std::make_shared<Kept>();
        kept->places.resize(parameters_.size());
        for (nb::handle each : loops) {
            const auto parts = nb::borrow<nb::tuple>(each);
            Step& step = kept->steps.emplace_back();
            step.owner = parts[0];
            step.loop = nb::inst_ptr<pardo::Loop>(step.owner);
            step.counts = nb::cast<Ints>(parts[2]);
            step.chunk = nb::cast<std::int64_t>(parts[3]);
            step.initial = nb::cast<Ints>(parts[5]);
            if (!take(*kept, step, nb::borrow<nb::tuple>(parts[1]), nb::cast<Ints>(parts[4]), name)) return;
        }
        for (const std::string& m : maps) kept->maps.push_back({m == "to" || m == "tofrom", m == "from_" || m == "tofrom", m != "present"});
        kept->maps.resize(parameters_.size());
        kept->arguments = fresh(*kept);
        kept->key = std::move(call.key);
        kept->results = std::move(results);
        kept->name = std::move(name);
        kept->moved = std::move(copied);
        if (!statements.is_none()) kept->statements = std::move(statements);
        if (!offload_is_off().value_or(true)) chosen_table_ = &table;
        if (kept_.size() >= most_kept) kept_.clear();
        last_ = kept_.size();
        kept_.push_back(std::move(kept));
    }

    /// A loop of the region whose statements this thread is running: what it reduces. Arrays are here; the others are given.
    nb::list run_loop(std::size_t number, const nb::tuple& given, const Ints& counts, std::int64_t chunk) const {
        const Statements& now = *under_way;
        const Step& step = now.kept.steps.at(number);
        std::vector<KernelArgument>& arguments = now.arguments.of_steps[number];
        std::size_t at = 0;
        for (std::size_t k = 0; k < step.widths.size(); at += step.widths[k++]) {
            if (step.arrays[k]) continue;
            std::vector<KernelArgument> parts =
                kernel_arguments(nb::make_tuple(nb::object(given[k])), now.kept.name.c_str(), step.loop->parameters());
            if (parts.size() != step.widths[k]) throw pardo::Error(pardo::ErrorCode::Internal, now.kept.name + ": other arguments");
            std::ranges::move(parts, arguments.begin() + static_cast<std::ptrdiff_t>(at));
        }
        std::vector<KernelArgument> results;
        {
            const Unlocked unlocked;
            results = launch(step, arguments, now.table, counts, chunk, now.late);
        }
        return loop_results(results);
    }

    std::int64_t hits = 0;
    /// What the last call has copied, if it ran here.
    nb::object moved = nb::none();

private:
    /// The facts of a call: shapes and numbers that programs and bounds depend on, and arrays.
    struct RunningCall {
        std::vector<std::int64_t> key;
        std::vector<Given> given;            // one a parameter; empty for numbers
        std::vector<pardo::Scalar> results;  // of the loops, one after the other
        nb::object given_back;               // by statements beside loops
    };
    /// What loops have that the statements of a region run.
    struct Statements {
        const Kept& kept;
        Arguments& arguments;
        const PresentTable& table;
        LateResults* late;
    };
    static thread_local const Statements* under_way;
    /// A call whose vectors have the room that they had in the last one. Threads that come meanwhile make their own.
    struct Borrowed {
        explicit Borrowed(Region& region) : owner(region), call(std::move(region.spare_)) {
            if (!call) call = std::make_unique<RunningCall>();
        }
        Borrowed(const Borrowed&) = delete;
        Borrowed& operator=(const Borrowed&) = delete;
        ~Borrowed() {
            call->key.clear();
            call->given.clear();
            call->results.clear();
            call->given_back.reset();
            owner.spare_ = std::move(call);
        }
        Region& owner;
        std::unique_ptr<RunningCall> call;
    };

    /// The arguments of a loop; false if they are of a kind that is not known beforehand.
    bool take(Kept& kept, Step& step, const nb::tuple& arguments, const Ints& places, const std::string& name) const {
        for (std::size_t k = 0; k < nb::len(arguments); ++k) {
            std::vector<KernelArgument> parts =
                kernel_arguments(nb::make_tuple(nb::object(arguments[k])), name.c_str(), step.loop->parameters());
            const std::int64_t place = k < places.size() ? places[k] : -1;
            step.sources.resize(step.pattern.size());
            step.dtypes.resize(step.pattern.size());
            if (place >= 0 && !stands_for(kept, step, parts, static_cast<std::size_t>(place))) return false;
            step.widths.push_back(parts.size());
            step.arrays.push_back(place >= 0 && static_cast<std::size_t>(place) < parameters_.size() &&
                                  parameters_[static_cast<std::size_t>(place)].rank >= 0);
            for (KernelArgument& part : parts) step.pattern.push_back(std::move(part));
        }
        step.sources.resize(step.pattern.size());
        step.dtypes.resize(step.pattern.size());
        Ints first(step.widths.size());  // where the arguments are in the pattern
        for (std::size_t k = 1; k < first.size(); ++k) first[k] = first[k - 1] + static_cast<std::int64_t>(step.widths[k - 1]);
        for (std::int64_t& k : step.initial) k = first.at(static_cast<std::size_t>(k));
        return std::ranges::all_of(
            step.initial, [&](std::int64_t k) { return step.pattern[static_cast<std::size_t>(k)].kind == KernelArgument::Kind::Number; });
    }

    /// Notes what stands for an argument in other calls: an array for each of its pieces, a number, or a result.
    bool stands_for(Kept& kept, Step& step, std::vector<KernelArgument>& parts, std::size_t number) const {
        const std::size_t count = parameters_.size();
        if (number >= count || parameters_[number].rank < 0) {
            if (parts.size() != 1 || parts[0].kind != KernelArgument::Kind::Number || parts[0].scalar.weak) return false;
            if (number < count) kept.places[number].push_back({kept.steps.size() - 1, step.sources.size(), 0});
            step.sources.push_back(number < count ? Source{Source::Kind::Parameter, number} : Source{Source::Kind::Result, number - count});
            step.dtypes.push_back(parts[0].scalar.dtype);
            return true;
        }
        const std::vector<Piece>& pieces = parameters_[number].pieces;
        std::size_t piece = 0;
        for (KernelArgument& part : parts) {
            step.dtypes.emplace_back();
            step.sources.emplace_back();
            if (part.kind == KernelArgument::Kind::Tuple && !parameters_[number].plain()) continue;  // of fields
            if (part.kind != KernelArgument::Kind::Array || piece >= pieces.size() || part.array.dtype() != pieces[piece].dtype)
                return false;
            kept.places[number].push_back({kept.steps.size() - 1, step.sources.size() - 1, piece++});
            step.sources.back() = {Source::Kind::Parameter, number};
            part.array = Array();  // memory of a device is not kept
        }
        return piece == pieces.size();
    }

    Arguments fresh(const Kept& kept) const {
        Arguments out;
        for (const Step& step : kept.steps) out.of_steps.push_back(step.pattern);
        out.addresses.resize(parameters_.size());
        return out;
    }

    PresentTable* target(LateResults*& late, bool off) const {
        PresentTable* const around = table_of_block(&late);
        PresentTable* table = off ? &host_ : chosen_ ? chosen_table_ : around;
        if (!table && !off && !chosen_) table = present_table(pardo::Device());
        if (table != around && late && !late->empty()) return nullptr;  // other devices have to see what is still there
        if (table != around) late = nullptr;
        return table;
    }

    void read(const std::int64_t* words, const nb::tuple& numbers, const PresentTable& table, RunningCall& call) const {
        call.key.reserve(words_ + numbers_ + 1);  // pointers into it
        call.given.resize(parameters_.size());
        call.key.push_back(static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(&table)));
        Py_ssize_t number = 0;
        for (std::size_t p = 0; p < parameters_.size(); ++p) {
            const Parameter& parameter = parameters_[p];
            if (parameter.rank < 0) {
                if (parameter.counts)
                    call.key.push_back(static_cast<std::int64_t>(PyLong_AsUnsignedLongLongMask(PyTuple_GetItem(numbers.ptr(), number))));
                ++number;
                continue;
            }
            Given& g = call.given[p];
            g.rank = static_cast<std::size_t>(parameter.rank);
            g.address = static_cast<std::uintptr_t>(*words++);
            g.shape = call.key.data() + call.key.size();
            g.strides = g.shape + g.rank;
            call.key.insert(call.key.end(), words, words + 2 * g.rank);
            words += 2 * g.rank;
        }
        if (PyErr_Occurred()) throw nb::python_error();
    }

    /// Whether a parameter is an array that a loop has.
    bool is_used(const Kept& kept, std::size_t p) const { return parameters_[p].rank >= 0 && !kept.places[p].empty(); }

    /// Finds what takes the place of each array.
    bool placed(const Kept& kept, const PresentTable& table, RunningCall& call, LateResults* late) const {
        bool made = false;
        for (std::size_t p = 0; p < parameters_.size(); ++p) {
            if (!is_used(kept, p)) continue;
            Given& g = call.given[p];
            const std::int64_t size = parameters_[p].size;
            g.low = g.address;
            g.high = g.address + static_cast<std::uintptr_t>(size);
            for (std::size_t d = 0; d < g.rank; ++d) {
                if (g.shape[d] == 0) return false;
                if (g.shape[d] > 1) (g.strides[d] < 0 ? g.low : g.high) += static_cast<std::uintptr_t>((g.shape[d] - 1) * g.strides[d]);
            }
            if (table.shares) continue;
            PresentEntry* const entry = table.from(g.low);
            if (entry && entry->begin < g.high) {
                const bool whole = entry->begin <= g.low && g.high <= entry->end && entry->image && entry->ready;
                if (!whole) return false;
                g.entry = entry;
                g.place = static_cast<std::int64_t>(g.address - entry->begin);
                for (const Piece& piece : parameters_[p].pieces) {
                    const auto divides = [unit = pardo::itemsize(piece.dtype)](std::int64_t s) { return s % unit == 0; };
                    if (!divides(g.place + piece.offset) || !std::ranges::all_of(g.steps(), divides)) return false;
                }
            } else {
                if (!kept.maps[p].may_be_new || !adjacent(g, size)) return false;
                made = true;
            }
            if (late && late->overlaps(g.low, g.high)) return false;
        }
        if (!made) return true;
        for (std::size_t a = 0; a < call.given.size(); ++a) {
            for (std::size_t b = a + 1; b < call.given.size(); ++b)
                if ((!call.given[a].entry || !call.given[b].entry) && call.given[a].overlaps(call.given[b])) return false;
        }
        return true;
    }

    /// Memory for arrays that are not present; false where there is none.
    bool make(const Kept& kept, const PresentTable& table, RunningCall& call, LateResults* late) const {
        for (std::size_t p = 0; p < call.given.size(); ++p) {
            Given& g = call.given[p];
            if (!is_used(kept, p) || g.entry) continue;
            const Parameter& parameter = parameters_[p];
            const Map& map = kept.maps[p];
            auto* const host = reinterpret_cast<void*>(g.address);
            const bool later = !map.to && map.from && late;
            g.whole = parameter.plain() && !later;
            const std::int64_t bytes[] = {static_cast<std::int64_t>(g.high - g.low)}, step[] = {1};
            const pardo::DType dtype = g.whole ? parameter.pieces[0].dtype : pardo::DType::UInt8;
            const pardo::Extents shape = g.whole ? g.extents() : pardo::Extents(bytes);
            try {
                if (map.to)
                    g.array = pardo::from_host(host, dtype, shape, g.whole ? g.steps() : pardo::Extents(step), table.queue);
                else if (later)
                    g.array = late->memory(g.high - g.low, alignment(parameter), table.queue, g.place);
                else
                    g.array = pardo::empty(shape, dtype, table.queue);
            } catch (const pardo::Error& e) {
                if (e.code() != pardo::ErrorCode::Memory) throw;
                return false;
            }
        }
        return true;
    }

    /// Of the numbers in an element.
    static std::int64_t alignment(const Parameter& parameter) {
        std::int64_t most = 1;
        for (const Piece& piece : parameter.pieces) most = std::max<std::int64_t>(most, pardo::itemsize(piece.dtype));
        return most;
    }

    /// The arrays of a call that are present, or made for it.
    void fill(const Kept& kept, Arguments& arguments, const PresentTable& table, RunningCall& call, bool present) const {
        if (const std::uint64_t failures = LateResults::failures(); arguments.failures != failures) {
            std::ranges::fill(arguments.addresses, 0);
            arguments.failures = failures;
        }
        for (std::size_t p = 0; p < call.given.size(); ++p) {
            Given& g = call.given[p];
            if (!is_used(kept, p) || present != (table.shares || g.entry != nullptr)) continue;
            if (table.shares && arguments.addresses[p] == g.address) continue;
            const std::vector<Piece>& pieces = parameters_[p].pieces;
            for (std::size_t k = 0; k < pieces.size(); ++k) set(kept, arguments, p, k, piece_of(pieces[k], g, table));
            arguments.addresses[p] = g.address;
        }
    }

    static Array piece_of(const Piece& piece, const Given& g, const PresentTable& table) {
        if (g.whole && !g.entry && !table.shares) return g.array;
        const auto both = [&](pardo::Extents of_array, const Ints& of_field) {
            Ints all(of_array.begin(), of_array.end());
            all.insert(all.end(), of_field.begin(), of_field.end());
            return all;
        };
        if (g.entry && piece.shape.empty()) return g.entry->part(piece.dtype, g.extents(), g.steps(), g.place + piece.offset);
        const Ints shape = both(g.extents(), piece.shape);
        Ints steps = both(g.steps(), piece.strides);
        if (g.entry) return g.entry->part(piece.dtype, shape, steps, g.place + piece.offset);
        if (!table.shares) return pardo::strided(g.array, piece.dtype, shape, steps, g.place + piece.offset);
        for (std::int64_t& s : steps) s /= pardo::itemsize(piece.dtype);
        auto* const host = reinterpret_cast<void*>(g.address + static_cast<std::uintptr_t>(piece.offset));
        return pardo::share_host(
            host, piece.dtype, shape, steps, false, [] {}, table.queue);
    }

    static void set(const Kept& kept, Arguments& arguments, std::size_t parameter, std::size_t piece, const Array& array) {
        for (const LoopArgument& p : kept.places[parameter])
            if (p.piece == piece) arguments.of_steps[p.step][p.argument].array = array;
    }

    bool run(Kept& kept, const PresentTable& table, RunningCall& call, const nb::tuple& numbers, LateResults* late) {
        const nb::object entries = table.entries;  // they live until the end
        const bool first = !kept.running;
        Arguments own;
        if (!first) own = fresh(kept);
        Arguments& arguments = first ? kept.arguments : own;
        number(kept, arguments, numbers);
        struct Running {
            bool& flag;
            const bool whose;
            ~Running() {
                if (whose) flag = false;
            }
        };
        kept.running = true;
        const Running running{kept.running, first};
        bool done = false;
        try {
            fill(kept, arguments, table, call, true);  // with the lock: other threads look at the entries too
            const bool has_statements = kept.statements.is_valid();
            {
                const Unlocked unlocked;
                done = table.shares || make(kept, table, call, late);
                if (done) fill(kept, arguments, table, call, false);
                if (done && !has_statements) {
                    for (std::size_t s = 0; s < kept.steps.size(); ++s) go(kept.steps[s], arguments.of_steps[s], table, call, late);
                    copy_back(kept, table, call, late);
                }
            }
            if (done && has_statements) {
                all_of_it(kept, arguments, table, call, numbers, late);
                const Unlocked unlocked;
                copy_back(kept, table, call, late);
            }
        } catch (...) {
            settle(kept, arguments, table);
            forget(kept, arguments, table);
            failed(kept, table, call);
        }
        forget(kept, arguments, table);
        return done;
    }

    /// Runs a loop.
    static void go(const Step& step, std::vector<KernelArgument>& arguments, const PresentTable& table, RunningCall& call,
                   LateResults* late) {
        for (std::size_t k = 0; k < arguments.size(); ++k)
            if (step.sources[k].kind == Source::Kind::Result)
                arguments[k].scalar = call.results.at(step.sources[k].number).cast(step.dtypes[k]);
        for (const KernelArgument& result : launch(step, arguments, table, step.counts, step.chunk, late))
            call.results.push_back(result.scalar);
    }

    static std::vector<KernelArgument> launch(const Step& step, const std::vector<KernelArgument>& arguments, const PresentTable& table,
                                              const Ints& counts, std::int64_t chunk, LateResults* late) {
        std::vector<pardo::Scalar> initial;
        for (const std::int64_t k : step.initial) initial.push_back(arguments[static_cast<std::size_t>(k)].scalar);
        pardo::Event event;
        const bool shared = late && table.shares && table.queue.order() == pardo::QueueOrder::InOrder;
        std::vector<KernelArgument> results = step.loop->run(arguments, counts, initial, &table.queue, chunk, shared ? &event : nullptr);
        // Without iterations there is no event, and what ran before may still be running.
        if (shared && event.status() != pardo::EventStatus::Complete) late->runs(event);
        return results;
    }

    /// Statements of the region, in Python, which run its loops.
    static void all_of_it(const Kept& kept, Arguments& arguments, const PresentTable& table, RunningCall& call, const nb::tuple& numbers,
                          LateResults* late) {
        const Statements now{kept, arguments, table, late};
        struct Running {
            const Statements* const outer = under_way;
            ~Running() { under_way = outer; }
        } const running;
        under_way = &now;
        const nb::object made = kept.statements(numbers);
        call.given_back = made.is_none() ? nb::object(nb::tuple()) : made;
    }

    void forget(const Kept& kept, Arguments& arguments, const PresentTable& table) const {
        for (std::size_t p = 0; p < parameters_.size() && !table.shares; ++p) {
            if (parameters_[p].rank < 0) continue;
            for (const LoopArgument& place : kept.places[p]) arguments.of_steps[place.step][place.argument].array = Array();
        }
    }

    /// After a failure, which is raised once: nothing writes the host's memory any more, and what will be at its addresses has not failed.
    void settle(const Kept& kept, const Arguments& arguments, const PresentTable& table) const {
        if (!table.shares) return;
        const Unlocked unlocked;
        for (std::size_t p = 0; p < parameters_.size(); ++p) {
            if (!is_used(kept, p)) continue;
            for (const LoopArgument& place : kept.places[p]) settle(arguments.of_steps[place.step][place.argument].array);
        }
    }
    static void settle(const Array& array) {
        for (bool settled = !array.node(); !settled;) {
            try {
                array.accept();
                settled = true;
            } catch (...) {  // interrupted: the loop is being stopped
            }
        }
    }

    void number(const Kept& kept, Arguments& arguments, const nb::tuple& numbers) const {
        Py_ssize_t at = 0;
        for (std::size_t p = 0; p < parameters_.size(); ++p) {
            if (parameters_[p].rank >= 0) continue;
            PyObject* const value = PyTuple_GetItem(numbers.ptr(), at++);
            for (const LoopArgument& place : kept.places[p])
                arguments.of_steps[place.step][place.argument].scalar =
                    scalar_from(value).value().cast(kept.steps[place.step].dtypes[place.argument]);
        }
    }

    static void copy_back(const Kept& kept, const PresentTable& table, const RunningCall& call, LateResults* late) {
        for (std::size_t p = 0; p < call.given.size() && !table.shares; ++p) {
            const Given& g = call.given[p];
            if (!g.array.node() || g.entry || !kept.maps[p].from) continue;
            if (late && !kept.maps[p].to)
                late->add(g.low, g.high, g.array, g.place);
            else
                g.array.copy_to(reinterpret_cast<void*>(g.low));
        }
    }

    /// What is being thrown, with notes of what did not reach the host; what work has written in part is not to be copied back.
    [[noreturn]] void failed(const Kept& kept, const PresentTable& table, const RunningCall& call) const {
        set_error_from_current_exception();
        nb::python_error error;
        for (std::size_t p = 0; p < call.given.size() && !table.shares; ++p) {
            const Given& g = call.given[p];
            const bool read_only = kept.maps[p].to && !kept.maps[p].from;
            if (g.entry && !read_only) g.entry->broken = true;
            if (g.shape != nullptr && !g.entry && kept.maps[p].from)
                error.value().attr("add_note")(kept.name + ": `" + parameters_[p].name + "`, stays as it was on the host");
        }
        throw error;
    }

    std::vector<Parameter> parameters_;
    std::size_t words_ = 0, numbers_ = 0;  // that a call gives
    std::unique_ptr<RunningCall> spare_;
    bool chosen_;  // the device is written in the file
    PresentTable& host_;
    PresentTable* chosen_table_ = nullptr;
    std::vector<std::shared_ptr<Kept>> kept_;
    std::size_t last_ = 0;
};

thread_local const Region::Statements* Region::under_way = nullptr;

}  // namespace

void bind_region(nb::module_& m) {
    nb::class_<LateResults>(m, "_LateResults", "Results of regions that are copied to the host at the end of a block.")
        .def(nb::init<>())
        .def("finish", [](LateResults& d) {
            const Unlocked unlocked;
            d.finish();
        });
    nb::class_<Region>(m, "_Region", "A region of a file of Cython.")
        .def(
            "__init__",
            [](Region* self, nb::typed<nb::list, nb::any> given, bool chosen, nb::handle host) {
                std::vector<Parameter> parameters;
                for (nb::handle one : given) {
                    const auto t = nb::borrow<nb::tuple>(one);
                    Parameter& p = parameters.emplace_back();
                    p.name = nb::cast<std::string>(t[0]);
                    p.rank = nb::cast<int>(t[1]);
                    p.counts = nb::cast<bool>(t[2]);
                    p.size = nb::cast<std::int64_t>(t[3]);
                    for (nb::handle each : nb::borrow<nb::tuple>(t[4])) {
                        const auto piece = nb::borrow<nb::tuple>(each);
                        p.pieces.push_back({dtype_from(nb::object(piece[0]).ptr()), nb::cast<std::int64_t>(piece[1]),
                                            nb::cast<Ints>(piece[2]), nb::cast<Ints>(piece[3])});
                    }
                }
                new (self) Region(std::move(parameters), chosen, *nb::inst_ptr<PresentTable>(host));
            },
            nb::arg("parameters"), nb::arg("chosen"), nb::arg("host"))
        .def(
            "again",
            [](Region& self, std::uintptr_t words, const nb::tuple& numbers) {
                return self.again(reinterpret_cast<const std::int64_t*>(words), numbers);
            },
            nb::arg("words"), nb::arg("numbers"))
        .def(
            "keep",
            [](Region& self, const Ints& words, nb::tuple numbers, nb::handle table, nb::typed<nb::list, nb::tuple> loops, std::string name,
               const std::vector<std::string>& maps, std::vector<std::size_t> results, nb::object moved, nb::object statements) {
                self.keep(words, numbers, *nb::inst_ptr<PresentTable>(table), loops, std::move(name), maps, std::move(results),
                          std::move(moved), std::move(statements));
            },
            nb::arg("words"), nb::arg("numbers"), nb::arg("table"), nb::arg("loops"), nb::arg("name"), nb::arg("maps"), nb::arg("results"),
            nb::arg("moved").none(), nb::arg("statements").none())
        .def("run_loop", &Region::run_loop, nb::arg("number"), nb::arg("given"), nb::arg("counts"), nb::arg("chunk"))
        .def_ro("hits", &Region::hits)
        .def_ro("moved", &Region::moved)
        .def("forget", [](Region& self) { self.moved = nb::none(); });
}

}  // namespace bind
