// src/saving/save.cpp: from a function to a file: samples, formulas, plans for all sizes, machine code.
#include <dlfcn.h>
#include <fcntl.h>
#include <pardo/error.h>
#include <pardo/saved_program.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <unordered_map>

#include "backend/cpu/program.h"
#include "emit/llvm/math/table.h"
#include "emit/llvm/module.h"
#include "saving/forms.h"
#include "saving/run.h"
#include "saving/threads.h"

namespace pardo {
namespace saving {
namespace {

/// The values that sizes take in the runs. Primes and their neighbours tell apart what is equal by chance; around powers of two the planner
/// decides otherwise.
constexpr std::int64_t samples_of_one[] = {
    2,    3,    4,    5,     7,     8,     13,     16,     17,     31,      33,      64,      67,       100,      127,       257,       500,
    1000, 1025, 4099, 10007, 30011, 65537, 100003, 262147, 524287, 1000003, 2097169, 4194319, 10000019, 33554467, 100000007, 1073741827};
constexpr std::int64_t samples_of_two[] = {2, 3, 4, 5, 7, 11, 17, 33, 100, 257, 1000, 4099, 30011, 262147, 1000003, 10000019};
constexpr std::int64_t samples_of_three[] = {2, 3, 5, 7, 33, 257, 4099, 1000003};
constexpr std::int64_t samples_of_more[] = {2, 3, 7, 37, 1009};
constexpr std::int64_t sampled_bytes = std::int64_t{1} << 42;
constexpr std::size_t most_points = 1200, most_combined = 4, most_sizes = 4, most_checked = 200, most_regimes = 200, most_drawn = 60'000,
                      quiet_enough = 3'000;

std::span<const std::int64_t> samples_for(std::size_t free) {
    if (free <= 1) return samples_of_one;
    if (free == 2) return samples_of_two;
    if (free == 3) return samples_of_three;
    return samples_of_more;
}

/// Up to which size each may have plans of its own.
std::vector<std::int64_t> thresholds_for(std::size_t sizes) {
    if (sizes <= 1) return {1, 2, 3, 4, 5, 6, 8, 12, 16, 32, 64};
    if (sizes == 2) return {1, 2, 3, 4, 5, 6, 8};
    if (sizes == 3) return {1, 2, 3};
    return {1, 2};
}

std::string sizes_text(const Sizes& sizes) {
    std::string text;
    for (const std::int64_t n : sizes) text += (text.empty() ? "" : ", ") + std::to_string(n);
    return text;
}

/// The same numbers in every export: a file is the same when it is written again.
class Drawn {
public:
    /// Uniform on a logarithmic scale.
    std::int64_t between(std::int64_t least, std::int64_t most) {
        state_ = state_ * 6364136223846793005u + 1442695040888963407u;
        const double share = static_cast<double>(state_ >> 11) * 0x1p-53;
        return static_cast<std::int64_t>(static_cast<double>(least) *
                                         std::pow(static_cast<double>(most) / static_cast<double>(least), share));
    }

private:
    std::uint64_t state_ = 1;
};

/// The mark of a slot's number, while that of the constants is not known.
constexpr std::uint32_t slot_mark = std::uint32_t{1} << 30;

/// All values that launches and outputs name.
template <class F> void for_each_value(saved::Regime& regime, F&& f) {
    for (saved::Step& step : regime.steps)
        for (saved::Alternative& x : step.alternatives) {
            for (saved::RoutineCall& call : x.routines) {
                for (std::uint32_t& value : call.memories) f(value);
                for (saved::Use& use : call.uses) f(use.value);
            }
            for (saved::Launch& launch : x.launches) {
                for (saved::Patch& patch : launch.addresses) f(patch.value);
                for (saved::Use& use : launch.uses) f(use.value);
            }
        }
    for (saved::Output& output : regime.outputs) f(output.value);
}

/// Runs of a function without values, each choice of sizes once.
class Samples {
public:
    struct Sample {
        RunOutline outline;
        std::vector<std::pair<std::uint32_t, Hash128>> written;  // blocks that the host wrote, and the digests of what is in them
        std::exception_ptr failure;
        std::string message;
        bool too_large = false;
    };
    Samples(NotingDevice& device, const Function& function, saved::Program& program)
        : device_(device), function_(function), program_(program) {}

    const Sample& at(const Sizes& sizes) {
        const auto [place, fresh] = known_.try_emplace(sizes);
        if (fresh) run(sizes, place->second);
        return place->second;
    }
    /// Whether the function does the same when it runs once more.
    bool repeats(const Sizes& sizes) {
        Sample again;
        run(sizes, again);
        const Sample& before = at(sizes);
        return again.outline.structure == before.outline.structure && again.outline.numbers == before.outline.numbers &&
               again.outline.reals == before.outline.reals && again.written == before.written;
    }
    const std::vector<std::uint8_t>& contents(const Hash128& digest) const { return contents_.at(digest); }
    bool fits(const Sizes& sizes) const {
        return std::ranges::none_of(program_.arguments, [&](const saved::Argument& a) {
            double bytes = itemsize(a.dtype);
            for (const saved::Extent& e : a.shape)
                bytes *= static_cast<double>(e.size < 0 ? e.fixed : sizes[static_cast<std::size_t>(e.size)]);
            return bytes > static_cast<double>(sampled_bytes);
        });
    }

private:
    void run(const Sizes& sizes, Sample& sample) {
        try {
            Run run(device_, program_, sizes);
            run.call(function_);
            sample.outline = run.outline();
            for (const Run::Written& w : run.written()) {
                const std::vector<std::uint8_t>& bytes = w.buffer->contents;
                const Hash128 digest = hash128(bytes.data(), bytes.size());
                contents_.try_emplace(digest, bytes);
                sample.written.emplace_back(w.name, digest);
            }
            if (!known_outputs_) program_.outputs = run.outputs(), known_outputs_ = true;
            if (program_.outputs != run.outputs()) refuse("the function gives other dtypes, or other numbers of arrays, for other sizes");
        } catch (const Error& e) {
            sample.too_large = e.code() == ErrorCode::Memory;
            sample.failure = std::current_exception();
            sample.message = e.message();
        }
    }
    NotingDevice& device_;
    const Function& function_;
    saved::Program& program_;
    std::map<Sizes, Sample> known_;
    std::unordered_map<Hash128, std::vector<std::uint8_t>> contents_;
    bool known_outputs_ = false;
};

/// The points of one combination of classes where the function does the same, and the formulas that hold there.
struct Consistent {
    std::vector<Sizes> points;
    std::unique_ptr<Formulas> formulas;
    KnownNumbers numbers;
    std::exception_ptr failure;  // what stands against it; null: nothing
    std::string message;
};

class Exporter {
public:
    /// `forms`: of a part for devices; null for processors.
    Exporter(NotingDevice& device, const Function& function, saved::Program& program, Codes& codes, Sizes examples, Forms* forms = nullptr)
        : device_(device),
          function_(function),
          program_(program),
          codes_(codes),
          examples_(std::move(examples)),
          forms_(forms),
          samples_(device, function, program) {}

    void make() {
        const auto sizes = static_cast<std::size_t>(program_.sizes);
        std::vector<std::int64_t> small(sizes, 1);
        Consistent usual = consistent(above(small));
        if (usual.failure) {
            const std::exception_ptr first = usual.failure;
            for (const std::int64_t threshold : thresholds_for(sizes)) {
                std::ranges::fill(small, threshold);
                usual = consistent(above(small));
                if (!usual.failure) break;
            }
            if (usual.failure || sizes == 0) std::rethrow_exception(first);
            for (std::int64_t& threshold : small) {
                const std::int64_t high = threshold;
                for (threshold = 1; threshold < high; ++threshold)
                    if (!consistent(above(small)).failure) break;
            }
            usual = consistent(above(small));
        }
        program_.regimes.push_back(regime(above(small), std::move(usual)));
        if (!program_.regimes[0].refused.empty()) refuse("the planner finds no plan that serves other sizes");
        std::vector<std::vector<saved::SizeClass>> all{above(small)};
        for (std::size_t k = 0; k < sizes; ++k) {                   // fewer and fewer that are as usual
            const std::size_t known = sizes <= 3 ? all.size() : 1;  // of many sizes one at a time
            for (std::size_t i = 0; i < known; ++i)
                for (std::int64_t exact = 0; exact <= small[k] && all.size() < most_regimes; ++exact) {
                    all.push_back(all[i]);
                    all.back()[k] = {true, exact};
                }
        }
        for (std::size_t i = 1; i < all.size(); ++i) add(all[i]);
    }

private:
    /// A regime; or several, where the small sizes have plans of their own up to others than usual.
    void add(const std::vector<saved::SizeClass>& classes) {
        Consistent found = consistent(classes);
        for (const std::int64_t threshold : found.failure ? thresholds_for(classes.size()) : std::vector<std::int64_t>()) {
            std::vector<saved::SizeClass> higher = classes;
            for (saved::SizeClass& c : higher)
                if (!c.exact) c.value = std::max(c.value, threshold);
            if (std::ranges::equal(higher, classes, {}, &saved::SizeClass::value, &saved::SizeClass::value)) continue;
            Consistent above = consistent(higher);
            if (above.failure) continue;
            program_.regimes.push_back(regime(higher, std::move(above)));
            for (std::size_t k = 0; k < classes.size(); ++k) {  // the first one that is small
                std::vector<saved::SizeClass> smaller = classes;
                std::copy_n(higher.begin(), k, smaller.begin());
                for (std::int64_t exact = classes[k].value + 1; !classes[k].exact && exact <= higher[k].value; ++exact) {
                    smaller[k] = {true, exact};
                    if (program_.regimes.size() < most_regimes) add(smaller);
                }
            }
            return;
        }
        program_.regimes.push_back(regime(classes, std::move(found)));
    }

    static std::vector<saved::SizeClass> above(const std::vector<std::int64_t>& small) {
        std::vector<saved::SizeClass> classes;
        classes.reserve(small.size());
        for (const std::int64_t n : small) classes.push_back({false, n});
        return classes;
    }

    /// The samples of a size beyond a threshold: all up to the next one of the list, where it would show that the threshold is too low.
    static std::vector<std::int64_t> samples_above(std::int64_t threshold, std::size_t free) {
        std::vector<std::int64_t> samples;
        const std::span<const std::int64_t> list = samples_for(free);
        const auto next = std::ranges::find_if(list, [&](std::int64_t n) { return n > threshold; });
        const std::int64_t dense = free <= 1 ? std::max<std::int64_t>(*next, 67) : *next;
        for (std::int64_t n = threshold + 1; n <= dense; ++n) samples.push_back(n);
        for (const std::int64_t n : list)
            if (n > dense) samples.push_back(n);
        return samples;
    }

    /// All combinations of samples, the smallest first; of many sizes some.
    std::vector<Sizes> points_of(const std::vector<saved::SizeClass>& classes) const {
        const auto free = static_cast<std::size_t>(std::ranges::count(classes, false, &saved::SizeClass::exact));
        std::vector<Sizes> points{{}};
        if (free > most_combined) {
            Drawn drawn;
            points.assign(most_points / 2, {});
            for (std::size_t i = 0; i < points.size(); ++i)
                for (const saved::SizeClass& c : classes)
                    points[i].push_back(c.exact ? c.value : drawn.between(c.value + 1, std::int64_t{8} << i % 16));
        }
        for (const saved::SizeClass& c : free > most_combined ? std::vector<saved::SizeClass>() : classes) {
            std::vector<Sizes> more;
            for (const Sizes& p : points) {
                const auto add = [&](std::int64_t n) { more.push_back(p), more.back().push_back(n); };
                if (c.exact) add(c.value);
                for (const std::int64_t n : c.exact ? std::vector<std::int64_t>() : samples_above(c.value, free)) add(n);
            }
            points = std::move(more);
        }
        std::erase_if(points, [&](const Sizes& p) { return !samples_.fits(p); });
        const auto largest = [](const Sizes& p) { return p.empty() ? 0 : *std::ranges::max_element(p); };
        std::ranges::stable_sort(points, [&](const Sizes& a, const Sizes& b) { return largest(a) < largest(b); });
        if (points.size() > most_points) {  // as many small ones as large ones
            std::vector<Sizes> some;
            for (std::size_t i = 0; i < most_points; ++i) some.push_back(std::move(points[i * points.size() / most_points]));
            points = std::move(some);
        }
        return points;
    }

    /// Combinations of powers of two: the planner's own limits are such, and products meet them exactly.
    std::vector<Sizes> powers(const std::vector<saved::SizeClass>& classes) const {
        const auto free = static_cast<std::size_t>(std::ranges::count(classes, false, &saved::SizeClass::exact));
        const int step = free <= 2 ? 1 : free == 3 ? 3 : 6, most = free <= 1 ? 31 : 24;
        std::vector<Sizes> points{{}};
        for (const saved::SizeClass& c : classes) {
            std::vector<Sizes> more;
            for (const Sizes& p : points) {
                const auto add = [&](std::int64_t n) {
                    if (c.has(n)) more.push_back(p), more.back().push_back(n);
                };
                if (c.exact) add(c.value);
                for (int power = 1; power <= most && !c.exact; power += step) {
                    add(std::int64_t{1} << power);
                    if (free <= 1) add((std::int64_t{1} << power) - 1), add((std::int64_t{1} << power) + 1);
                }
            }
            points = std::move(more);
        }
        std::erase_if(points, [&](const Sizes& p) { return !samples_.fits(p); });
        return points;
    }

    Consistent consistent(const std::vector<saved::SizeClass>& classes) {
        Consistent found;
        const auto fail = [&](std::exception_ptr failure, const std::string& message) {
            found.failure = std::move(failure);
            found.message = message;
        };
        const auto fail_for = [&](const std::string& why) {
            const bool repeats = found.points.empty() || samples_.repeats(found.points[0]);
            const Error e(ErrorCode::Value,
                          repeats ? "export: " + why + "; any_size=False exports the function for the shapes of the examples alone"
                                  : "export: the function does something else each time that it runs, as one does that draws from a "
                                    "generator outside of it, or counts; make such numbers before, and give them as arguments");
            fail(std::make_exception_ptr(e), "the program was exported without what it does for such sizes");
        };
        const auto no_formula = [&](const char* kinds, const auto& values) {
            fail_for(std::string("a number that the function computes of sizes follows no formula of the kinds that pardo finds (") +
                     kinds + "): it is " + std::to_string(values[0]) + " for sizes " + sizes_text(found.points[0]) + ", " +
                     std::to_string(values.back()) + " for " + sizes_text(found.points.back()));
        };
        const Samples::Sample* first = nullptr;
        std::vector<const Samples::Sample*> all;
        for (const Sizes& p : points_of(classes)) {
            const Samples::Sample& sample = samples_.at(p);
            if (sample.too_large && first) continue;
            if (sample.failure) return fail(sample.failure, sample.message), std::move(found);
            if (!first) first = &sample;
            if (sample.written != first->written && sample.outline.structure == first->outline.structure) {
                fail_for(
                    "an array that the function takes from the host (asarray, copies) has other values or another shape where sizes are " +
                    sizes_text(p) + " than where they are " + sizes_text(found.points[0]) +
                    "; what follows from sizes is made by arange, ones and operations");
                return found;
            }
            if (sample.outline.structure != first->outline.structure || sample.outline.numbers.size() != first->outline.numbers.size() ||
                sample.outline.reals.size() != first->outline.reals.size() || sample.written != first->written) {
                fail_for("the function does something else where sizes are " + sizes_text(p) + " than where they are " +
                         sizes_text(found.points[0]));
                return found;
            }
            all.push_back(&sample);
            found.points.push_back(p);
        }
        if (!first) return fail_for("there are no sizes that fit"), std::move(found);
        found.formulas = std::make_unique<Formulas>(found.points);
        found.numbers.formulas = found.formulas.get();
        std::vector<std::int64_t> values(all.size());
        const auto find = [&](std::size_t i) {
            for (std::size_t k = 0; k < all.size(); ++k) values[k] = all[k]->outline.numbers[i];
            return found.formulas->find(values, first->outline.rounded_to[i]);
        };
        std::vector<std::optional<Formula>> formulas;
        for (std::size_t i = 0; i < first->outline.numbers.size(); ++i) formulas.push_back(find(i));
        for (std::size_t i = 0; i < formulas.size(); ++i) {
            // A product may be of what a later number has shown.
            std::optional<Formula> formula = formulas[i] ? std::move(formulas[i]) : find(i);
            if (!formula) {
                no_formula("sums of products of sizes and of quotients by up to 64", values);
                return found;
            }
            found.numbers.of.push_back(std::move(*formula));
        }
        std::vector<double> reals(all.size());
        for (std::size_t i = 0; i < first->outline.reals.size(); ++i) {
            for (std::size_t k = 0; k < all.size(); ++k) reals[k] = all[k]->outline.reals[i];
            std::optional<RealFormula> formula = found.formulas->find_real(reals, first->outline.real_dtypes[i]);
            if (!formula) {
                no_formula("itself, a sum of products of sizes, a quotient by one", reals);
                return found;
            }
            found.numbers.reals.push_back(std::move(*formula));
        }
        return found;
    }

    static saved::Regime refused(const std::vector<saved::SizeClass>& classes, const std::string& why) {
        saved::Regime none;
        none.sizes = classes;
        none.refused = why;
        return none;
    }

    /// How a run differs from what the formulas say of it; empty: it does not.
    std::string difference(const Sizes& p, const Consistent& found) {
        const Samples::Sample &sample = samples_.at(p), &first = samples_.at(found.points[0]);
        if (sample.too_large) return {};
        bool same = !sample.failure && sample.outline.structure == first.outline.structure && sample.written == first.written &&
                    sample.outline.numbers.size() == found.numbers.of.size() && sample.outline.reals.size() == found.numbers.reals.size();
        for (std::size_t i = 0; same && i < found.numbers.of.size(); ++i) {
            const std::optional<std::int64_t> value = found.formulas->at(found.numbers.of[i], p);
            same = value && in_dtype(*value, sample.outline.rounded_to[i]) == sample.outline.numbers[i];
        }
        for (std::size_t i = 0; same && i < found.numbers.reals.size(); ++i) {
            const std::optional<double> value = found.formulas->at(found.numbers.reals[i], p);
            same = value && same_bits(in_dtype(*value, sample.outline.real_dtypes[i]), sample.outline.reals[i]);
        }
        if (same) return {};
        return "the function does something else where sizes are " + sizes_text(p) + " than where they are " + sizes_text(found.points[0]);
    }

    saved::Regime regime(const std::vector<saved::SizeClass>& classes, Consistent found) {
        saved::Regime regime;
        regime.sizes = classes;
        if (found.failure) return refused(classes, found.message);
        regime.sizing.sizes = -1;  // not made yet
        const auto covered = [&](const Sizes& p) {
            std::vector<std::int64_t> values;
            const auto serves = [&](const saved::Alternative& x) { return x.sizing.run(p, values); };
            return regime.sizing.sizes >= 0 && std::ranges::all_of(regime.steps, [&](const saved::Step& step) {
                       return std::ranges::any_of(step.alternatives, serves);
                   });
        };
        std::vector<Sizes> looked_at;
        /// True if nothing had to be made.
        const auto cover = [&](const Sizes& p) {
            if (forms_) looked_at.push_back(p);
            if (covered(p)) return true;
            try {
                Run run(device_, program_, p, &found.numbers, &codes_, &regime);
                run.call(function_);
            } catch (const Error& e) {
                if (e.code() != ErrorCode::Memory) throw;  // else too large to be
                return true;
            }
            return false;
        };
        // Sizes that differ from each other first: their plans serve most others.
        const auto apart = [](const Sizes& p) {
            Sizes sorted = p;
            std::ranges::sort(sorted);
            return std::ranges::adjacent_find(sorted) == sorted.end();
        };
        for (const bool generic : {true, false})
            for (const Sizes& p : found.points)
                if (apart(p) == generic) (void)cover(p);
        for (const Sizes& p : powers(classes)) (void)cover(p);
        const auto free = static_cast<std::size_t>(std::ranges::count(classes, false, &saved::SizeClass::exact));
        Drawn drawn;
        std::size_t quiet = 0;
        for (std::size_t i = 0; free > 0 && i < most_drawn && quiet < quiet_enough * free; ++i) {
            Sizes p;
            std::int64_t most = std::int64_t{1} << drawn.between(3, 31);
            for (const saved::SizeClass& c : classes) {
                if (i % 2 == 1) most = std::int64_t{1} << drawn.between(2, 31);  // of each size on its own: few of one, many of another
                p.push_back(c.exact ? c.value : drawn.between(c.value + 1, std::max(most, c.value + 2)));
            }
            if (i % 8 == 0 && free > 1) {  // equal ones
                const auto first = std::ranges::find(classes, false, &saved::SizeClass::exact) - classes.begin();
                for (std::size_t k = 0; k < p.size(); ++k)
                    if (!classes[k].exact && classes[k].has(p[static_cast<std::size_t>(first)])) p[k] = p[static_cast<std::size_t>(first)];
            }
            if (samples_.fits(p)) quiet = cover(p) ? quiet + 1 : 0;
        }
        // Sizes that no sample was of: what the formulas say of them has to be so.
        for (std::size_t i = 0; free > 0 && i < most_checked; ++i) {
            Sizes p;
            const std::int64_t most = std::int64_t{8} << i % 24;
            for (const saved::SizeClass& c : classes)
                p.push_back(c.exact ? c.value : drawn.between(c.value + 1, std::max(most, c.value + 2)));
            if (!samples_.fits(p)) continue;
            const std::string wrong = difference(p, found);
            if (wrong.empty()) continue;
            const bool usual = std::ranges::none_of(classes, &saved::SizeClass::exact);
            if (usual) refuse(wrong + "; any_size=False exports the function for the shapes of the examples alone");
            return refused(classes, "the program was exported without what it does for such sizes");
        }
        bool own = true;
        for (std::size_t k = 0; k < classes.size(); ++k) own = own && classes[k].has(examples_[k]);
        if (own) (void)cover(examples_);
        if (regime.sizing.sizes < 0 ||
            std::ranges::any_of(regime.steps, [](const saved::Step& step) { return step.alternatives.empty(); })) {
            return refused(classes, "the program was exported without a plan for such sizes");
        }
        for (const Sizes& p : looked_at) forms_->meet(regime, p);
        number_values(regime, samples_.at(found.points[0]).written);
        return regime;
    }

    /// Names of a run's blocks become values of the program: arguments, its constants, slots. What is behind them is numbered last.
    void number_values(saved::Regime& regime, const std::vector<std::pair<std::uint32_t, Hash128>>& written) {
        const auto arguments = static_cast<std::uint32_t>(program_.arguments.size());
        std::vector<std::uint32_t> value(regime.slots.size());
        std::vector<saved::Number> slots;
        std::vector<bool> taken(program_.constants.size());  // each block has memory of its own: it may be written
        for (std::uint32_t name = 0; name < value.size(); ++name) {
            const auto constant = std::ranges::find(written, name, &std::pair<std::uint32_t, Hash128>::first);
            if (name < arguments) {
                value[name] = name;
            } else if (constant != written.end()) {
                const std::vector<std::uint8_t>& contents = samples_.contents(constant->second);
                std::size_t same = 0;
                while (same < taken.size() && (taken[same] || program_.constants[same].bytes != contents)) ++same;
                if (same == taken.size()) {
                    program_.constants.push_back({contents});
                    taken.push_back(false);
                }
                taken[same] = true;
                value[name] = arguments + static_cast<std::uint32_t>(same);
            } else {
                value[name] = slot_mark | static_cast<std::uint32_t>(slots.size());
                slots.push_back(regime.slots[name]);
            }
        }
        regime.slots = std::move(slots);
        const auto settle = [&](std::uint32_t& v) {
            if (v != saved::status_value && (v & scratch_mark) == 0) v = value[v];
        };
        for_each_value(regime, settle);
    }

    NotingDevice& device_;
    const Function& function_;
    saved::Program& program_;
    Codes& codes_;
    const Sizes examples_;
    Forms* const forms_;
    Samples samples_;
};

/// Slots and scratch get their numbers, behind arguments and constants.
void number_slots(saved::Program& program) {
    const auto first = static_cast<std::uint32_t>(program.arguments.size() + program.constants.size());
    for (saved::Regime& regime : program.regimes) {
        const std::uint32_t scratch = first + static_cast<std::uint32_t>(regime.slots.size());
        for_each_value(regime, [&](std::uint32_t& value) {
            if (value == saved::status_value) return;
            if (value & scratch_mark)
                value = scratch + (value & ~scratch_mark);
            else if (value & slot_mark)
                value = first + (value & ~slot_mark);
        });
    }
}

/// Kernels as objects for each target, on all threads of the machine.
void compile(saved::Program& program, const std::vector<ir::Kernel>& kernels) {
    program.codes.resize(kernels.size());
    for (std::size_t i = 0; i < kernels.size(); ++i) {
        saved::Code& code = program.codes[i];
        code.name = kernels[i].name;
        code.rank = kernels[i].rank;
        code.granularity = emit::split_granularity(kernels[i]);
        code.group_size.assign(kernels[i].group_size.begin(), kernels[i].group_size.end());
        code.objects.resize(program.targets.size());
    }
    on_all_threads(kernels.size() * program.targets.size(), [&](std::size_t job) {
        const std::size_t kernel = job / program.targets.size(), target = job % program.targets.size();
        program.codes[kernel].objects[target] =
            cpu::object_for(kernels[kernel], *std::ranges::find(emit::levels(), program.targets[target], &emit::LlvmTarget::level));
    });
}

/// The vector functions of SLEEF, if some object calls one: the shared library that this process has them from.
void add_math(saved::Program& program) {
    static constexpr std::string_view prefix = "Sleef_";
    const auto calls = [](const std::vector<std::uint8_t>& object) {
        return std::search(object.begin(), object.end(), prefix.begin(), prefix.end()) != object.end();
    };
    const bool needed =
        std::ranges::any_of(program.codes, [&](const saved::Code& code) { return std::ranges::any_of(code.objects, calls); });
    Dl_info where{};
    if (!needed || ::dladdr(emit::math_address("Sleef_expd1_u10purec"), &where) == 0 || !where.dli_fname) return;
    std::ifstream file(where.dli_fname, std::ios::binary);
    program.math.assign(std::istreambuf_iterator<char>(file), {});
}

/// Beside the file, then in its place: no reader sees half of it.
void write_file(const std::string& path, const std::vector<std::uint8_t>& bytes) {
    const std::string beside = path + ".part" + std::to_string(::getpid());
    const int fd = ::open(beside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    std::size_t done = 0;
    while (fd >= 0 && done < bytes.size()) {
        const ssize_t n = ::write(fd, bytes.data() + done, bytes.size() - done);
        if (n <= 0) break;
        done += static_cast<std::size_t>(n);
    }
    const bool whole = fd >= 0 && ::close(fd) == 0 && done == bytes.size();
    if (whole && ::rename(beside.c_str(), path.c_str()) == 0) return;
    if (fd >= 0) ::unlink(beside.c_str());
    refuse("cannot write " + path);
}

/// The extents of the examples: those beyond 1 are sizes, equal ones the same. Gives the sizes.
Sizes describe_arguments(saved::Program& program, ListOf<Array> examples, const ExportOptions& options) {
    Sizes sizes;
    for (std::size_t k = 0; k < examples.size(); ++k) {
        saved::Argument argument{k < options.arguments.size() ? options.arguments[k] : "x" + std::to_string(k), examples[k].dtype(), {}};
        for (const std::int64_t n : examples[k].shape()) {
            if (n <= 1 || !options.any_size) {
                argument.shape.push_back({-1, n});
                continue;
            }
            auto known = std::ranges::find(sizes, n);
            if (known == sizes.end()) known = sizes.insert(known, n);
            argument.shape.push_back({static_cast<std::int32_t>(known - sizes.begin()), 0});
        }
        program.arguments.push_back(std::move(argument));
    }
    if (sizes.size() > most_sizes)
        refuse("the examples have " + std::to_string(sizes.size()) + " different extents, of " + std::to_string(most_sizes) +
               " at most plans can be made for all values; give extents that are equal the same number, or export with any_size=False");
    program.sizes = static_cast<std::int32_t>(sizes.size());
    return sizes;
}

/// A device of one's own. A function that exports others would do so for each of its runs.
class OwnDevice {
public:
    explicit OwnDevice(DeviceKind kind) {
        if (here()) refuse("a function that is exported exports another one");
        here() = true;
        device_ = &NotingDevice::borrow(kind);
    }
    ~OwnDevice() {
        here() = false;
        NotingDevice::give_back(*device_);
    }
    OwnDevice(const OwnDevice&) = delete;
    NotingDevice& operator*() const { return *device_; }

private:
    static bool& here() {
        thread_local bool exports = false;
        return exports;
    }
    NotingDevice* device_;
};

/// The program for devices of a kind.
saved::DevicePart device_part(const saved::Program& program, const Function& function, const Targets& targets, DeviceKind kind,
                              const Sizes& sizes) {
    const OwnDevice device(kind);
    saved::DevicePart part;
    part.groups = kind == DeviceKind::Groups;
    part.program.name = program.name;
    part.program.arguments = program.arguments;
    part.program.sizes = program.sizes;
    Codes codes;
    Forms forms(targets, kind, codes);
    Exporter(*device, function, part.program, codes, sizes, &forms).make();
    part.program.routines = codes.routines();
    number_slots(part.program);
    part.program.codes = device_codes(codes);
    part.forms = forms.made();
    return part;
}

}  // namespace
}  // namespace saving

std::string export_program(const std::function<Exported(ListOf<Array>)>& function, ListOf<Array> examples, const std::string& path,
                           const ExportOptions& options) {
    using namespace saving;
    saved::Program program;
    program.name = options.name;
    program.doc = options.doc;
    program.made_by = "pardo " PARDO_VERSION;
    const Targets targets(options.targets);
    program.targets = targets.processors;
    const Sizes sizes = describe_arguments(program, examples, options);
    const Function run = [&](std::span<const Array> arguments) {
        Exported results = function(ListOf<Array>(arguments.data(), arguments.size()));
        program.tuple = results.tuple;
        return std::move(results.arrays);
    };
    if (targets.need(DeviceKind::Cpu)) {
        const OwnDevice device(DeviceKind::Cpu);
        Codes codes;
        Exporter(*device, run, program, codes, sizes).make();
        program.routines = codes.routines();
        number_slots(program);
        compile(program, codes.kernels());
        add_math(program);
    }
    std::vector<saved::DevicePart> parts;
    for (const DeviceKind kind : {DeviceKind::Processor, DeviceKind::Groups})
        if (targets.need(kind)) parts.push_back(device_part(program, run, targets, kind, sizes));
    if (!targets.need(DeviceKind::Cpu)) program.outputs = parts[0].program.outputs;
    Hash128 digest;
    const std::vector<std::uint8_t> bytes = saved::to_bytes(program, parts, digest);
    const std::size_t slash = path.rfind('/') + 1, dot = path.rfind('.');
    const std::size_t ending = dot == std::string::npos || dot <= slash ? path.size() : dot;
    const std::string named =
        path.substr(0, ending) + "-" + digest.hex().substr(0, 16) + (ending == path.size() ? ".pardo" : path.substr(ending));
    write_file(named, bytes);
    return named;
}

}  // namespace pardo
