// src/saving/run_routine.cpp: routines of the library as steps of a program: their arguments' fields, and memory by its name.
#include <algorithm>

#include "device/event.h"
#include "routines/routines.h"
#include "saving/tracing.h"

namespace pardo::saving {

std::uint32_t Codes::number(const routines::RoutineBase& routine) {
    const auto known = std::ranges::find(routines_, routine.name(), &saved::Routine::name);
    if (known != routines_.end()) return static_cast<std::uint32_t>(known - routines_.begin());
    routines_.push_back({routine.name(), routine.signature()});
    return static_cast<std::uint32_t>(routines_.size() - 1);
}

/// Notes the fields of one call.
class Run::RoutineNotes final : public routines::Fields {
public:
    RoutineNotes(Run& run, Tracing* tracing, bool in_place) : run_(run), tracing_(tracing), in_place_(in_place) {}
    void choice(std::uint64_t& value, std::uint64_t) override { structural(value); }
    void count(std::uint64_t& value) override { structural(value); }
    void number(std::int64_t& value) override {
        const std::size_t at = run_.note(value);
        run_.check(at);
        made_.numbers.push_back(tracing_ ? tracing_->number_at(at) : saved::Number{});
    }
    void real(double& value) override {
        const std::size_t at = run_.note_real(value, DType::Float64);
        made_.reals.push_back(tracing_ ? tracing_->real_at(at) : saved::Real{});
    }
    void text(const char*& value) override {
        const std::string text(value);
        run_.outline_.structure.insert(run_.outline_.structure.end(), text.begin(), text.end());
        run_.outline_.structure.push_back(0);
        made_.texts.push_back(text);
    }
    void memory(routines::Memory& value) override {
        std::uint64_t there = value.buffer ? 1 : 0;
        count(there);
        if (!there) return;
        const std::uint32_t block = run_.block_of(*value.buffer);
        run_.name(block);
        field(*this, value.dtype);
        field(*this, value.shape);
        field(*this, value.strides);
        field(*this, value.offset);
        const std::uint32_t name = run_.blocks_[block].name;
        const bool fresh = !run_.blocks_[block].used && std::ranges::find(run_.written_, name, &Written::name) == run_.written_.end();
        const bool changed = in_place_ && made_.memories.empty();
        made_.memories.push_back(name);
        blocks_.push_back(block);
        const auto known = std::ranges::find(made_.uses, name, &saved::Use::value);
        if (known == made_.uses.end())
            made_.uses.push_back({name, !fresh, fresh || changed});
        else
            known->writes = known->writes || changed;
    }
    saved::RoutineCall finish() {
        for (const std::uint32_t block : blocks_) run_.blocks_[block].used = true;
        return std::move(made_);
    }

private:
    void structural(std::uint64_t value) {
        for (int byte = 0; byte < 8; ++byte) run_.outline_.structure.push_back(static_cast<std::uint8_t>(value >> 8 * byte));
        made_.choices.push_back(value);
    }
    Run& run_;
    Tracing* const tracing_;
    const bool in_place_;
    saved::RoutineCall made_;
    std::vector<std::uint32_t> blocks_;
};

void Run::take(const routines::RoutineBase& routine, const std::function<void(routines::Fields&)>& walk) {
    const std::string name = routine.name();
    outline_.structure.insert(outline_.structure.end(), name.begin(), name.end());
    std::optional<Tracing> tracing;
    if (wanted(step_)) tracing.emplace(sizes_, *known_);
    RoutineNotes notes(*this, tracing ? &*tracing : nullptr, routine.in_place());
    walk(notes);
    saved::RoutineCall made = notes.finish();
    if (tracing) {
        made.routine = codes_->number(routine);
        made.place = device::current_location().str();
        saved::Alternative alternative;
        alternative.routines.push_back(std::move(made));
        if (tracing->take(alternative.sizing)) {
            alternative.sizing.guards.clear();  // formulas hold everywhere
            regime_->steps[step_].alternatives.push_back(std::move(alternative));
        }
    }
    ++step_;
}

std::size_t Run::note_real(double value, DType dtype) {
    const std::size_t at = outline_.reals.size();
    outline_.reals.push_back(value);
    outline_.real_dtypes.push_back(dtype);
    if (!known_) return at;
    const std::optional<double> expected = at < known_->reals.size() ? known_->formulas->at(known_->reals[at], sizes_) : std::nullopt;
    if (!expected || !same_bits(in_dtype(*expected, dtype), value)) refuse_change();
    return at;
}

void Run::refuse_count(const char* op_name) {
    saving::refuse(std::string(op_name) +
                   " gives as many elements as values say, and while a function is exported there are none; where(mask, x, other), "
                   "and reductions with where=mask, keep the shape");
}

}  // namespace pardo::saving
