// src/saved/file.cpp: programs as bytes: a header, a table of sections with their digests, and the sections: what the program is, machine
// code for each target, the library of mathematical functions, and parts for devices. A reader reads what it needs.
#include <fcntl.h>
#include <pardo/error.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <utility>

#include "saved/machine_code.h"
#include "saved/program.h"

namespace pardo::saved {

/// A row of a file's table.
struct Section {
    enum Kind : std::uint32_t { Description, Code, Math, Part, FormOfPart, Constant };
    std::uint32_t kind, number;  // of code: the target; of a form: form_number
    std::uint64_t offset, bytes;
    Hash128 digest;
};

namespace {

constexpr char magic[8] = {'p', 'a', 'r', 'd', 'o', 'r', 'u', 'n'};
struct Header {
    char magic[8];
    std::uint32_t major, minor, sections, unused;
    Hash128 digest;  // of the table
};
static_assert(sizeof(Header) == 40 && sizeof(Section) == 40);
constexpr std::uint32_t most_sections = 256, most_forms = 64;
constexpr std::uint64_t most_bytes = std::uint64_t{1} << 40;

/// What is wrong with a file; from_bytes names the file.
struct Damaged {};

class Writer {
public:
    static constexpr bool reading = false;
    std::vector<std::uint8_t> bytes;
    void raw(const void* from, std::size_t count) {
        const auto* begin = static_cast<const std::uint8_t*>(from);
        bytes.insert(bytes.end(), begin, begin + count);
    }
};

class Reader {
public:
    static constexpr bool reading = true;
    Reader(const std::uint8_t* at, std::size_t left) : at_(at), left_(left) {}
    void raw(void* to, std::size_t count) {
        if (count > left_) throw Damaged();
        if (count) std::memcpy(to, at_, count);
        at_ += count;
        left_ -= count;
    }
    std::size_t left() const { return left_; }

private:
    const std::uint8_t* at_;
    std::size_t left_;
};

// One walk over the fields for both ways.
template <class A, class T>
requires std::is_arithmetic_v<T> || std::is_enum_v<T>
void field(A& archive, T& value) {
    if constexpr (std::is_same_v<T, bool>) {
        std::uint8_t byte = value;
        archive.raw(&byte, 1);
        value = byte != 0;
    } else {
        archive.raw(&value, sizeof value);
    }
}
template <class A> void field(A& archive, std::string& text);
template <class A, class T> void field(A& archive, std::vector<T>& list);
template <class A> void field(A& a, Number& n) { field(a, n.literal), field(a, n.expression); }
template <class A> void field(A& a, Sizing::Step& s) { field(a, s.op), field(a, s.a), field(a, s.b), field(a, s.literal); }
template <class A> void field(A& a, Sizing::Guard& g) { field(a, g.a), field(a, g.b), field(a, g.less), field(a, g.outcome); }
template <class A> void field(A& a, Sizing& s) { field(a, s.sizes), field(a, s.steps), field(a, s.guards); }
template <class A> void field(A& a, Patch& p) { field(a, p.word), field(a, p.value), field(a, p.bytes); }
template <class A> void field(A& a, SizeWord& w) { field(a, w.word), field(a, w.dtype), field(a, w.value); }
template <class A> void field(A& a, Real& r) { field(a, r.kind), field(a, r.literal), field(a, r.of); }
template <class A> void field(A& a, RealWord& w) { field(a, w.word), field(a, w.dtype), field(a, w.own), field(a, w.value); }
template <class A> void field(A& a, Use& u) { field(a, u.value), field(a, u.reads), field(a, u.writes); }
template <class A> void field(A& a, Failure& f) { field(a, f.code), field(a, f.message); }
template <class A> void field(A& a, Launch& l) {
    field(a, l.code), field(a, l.extents), field(a, l.words), field(a, l.addresses), field(a, l.scalars), field(a, l.reals),
        field(a, l.uses);
    field(a, l.elements), field(a, l.operations), field(a, l.bytes_read), field(a, l.bytes_written), field(a, l.element_cost),
        field(a, l.failures);
}
template <class A> void field(A& a, RoutineCall& r) {
    field(a, r.routine), field(a, r.place), field(a, r.choices), field(a, r.numbers), field(a, r.reals), field(a, r.texts);
    field(a, r.memories), field(a, r.uses);
}
template <class A> void field(A& a, Routine& r) { field(a, r.name), field(a, r.signature); }
template <class A> void field(A& a, Output& o) { field(a, o.value), field(a, o.offset), field(a, o.shape), field(a, o.strides); }
template <class A> void field(A& a, Alternative& x) { field(a, x.sizing), field(a, x.scratch), field(a, x.routines), field(a, x.launches); }
template <class A> void field(A& a, Step& s) { field(a, s.alternatives); }
template <class A> void field(A& a, SizeClass& c) { field(a, c.exact), field(a, c.value); }
template <class A> void body(A& a, Regime& r) { field(a, r.sizing), field(a, r.slots), field(a, r.steps), field(a, r.outputs); }
/// Behind the body, of parts for devices.
template <class A> void loops(A& a, Regime& r) {
    for (Step& step : r.steps)
        for (Alternative& x : step.alternatives)
            for (std::size_t i = 0; i < x.launches.size(); ++i) {
                if constexpr (A::reading) x.loops.emplace_back();
                LoopShape& l = x.loops[i];
                field(a, l.inner), field(a, l.innermost), field(a, l.remainder);
            }
}
bool has_loops(const Regime& r) {
    return std::ranges::any_of(r.steps, [](const Step& step) {
        return std::ranges::any_of(step.alternatives, [](const Alternative& x) { return !x.loops.empty(); });
    });
}
/// The body is a list of bytes: it is read when it is needed.
template <class A> void field(A& a, Regime& r) {
    field(a, r.sizes), field(a, r.refused);
    if constexpr (A::reading) {
        field(a, r.unread);
    } else {
        Writer own;
        body(own, r);
        if (has_loops(r)) loops(own, r);
        field(a, own.bytes);
    }
}
template <class A> void field(A& a, Extent& e) { field(a, e.size), field(a, e.fixed); }
template <class A> void field(A& a, Argument& x) { field(a, x.name), field(a, x.dtype), field(a, x.shape); }
template <class A> void field(A& a, Constant& c) { field(a, c.bytes); }
template <class A> void field(A& a, Code& c) { field(a, c.name), field(a, c.rank), field(a, c.granularity), field(a, c.group_size); }
template <class A> void field(A& a, Program& p) {
    field(a, p.name), field(a, p.doc), field(a, p.made_by), field(a, p.arguments), field(a, p.sizes), field(a, p.tuple);
    field(a, p.outputs), field(a, p.constants), field(a, p.targets), field(a, p.codes), field(a, p.routines), field(a, p.regimes);
}

template <class A> void field(A& a, Image& x) {
    field(a, x.shape), field(a, x.entry), field(a, x.params), field(a, x.reversible), field(a, x.fast_math), field(a, x.shared_bytes),
        field(a, x.content);
}
/// What of a part's program is its own; constants are numbers of the pool, which is the program's constants and behind them the sections.
template <class A>
void field(A& a, Program& p, std::vector<std::uint32_t>& constants, bool& groups, std::vector<std::vector<std::int64_t>>& traits,
           std::vector<std::pair<std::string, std::string>>& forms) {
    field(a, groups), field(a, constants), field(a, p.codes), field(a, traits), field(a, p.routines), field(a, p.regimes), field(a, forms);
}
template <class A> void field(A& a, std::pair<std::string, std::string>& names) { field(a, names.first), field(a, names.second); }

/// Counts of lists: no list has more items than the file has bytes.
template <class A> std::size_t count(A& archive, std::size_t now) {
    auto number = static_cast<std::uint64_t>(now);
    archive.raw(&number, sizeof number);
    if constexpr (A::reading) {
        if (number > archive.left()) throw Damaged();
    }
    return static_cast<std::size_t>(number);
}
template <class A> void field(A& archive, std::string& text) {
    text.resize(count(archive, text.size()));
    archive.raw(text.data(), text.size());
}
template <class A, class T> void field(A& archive, std::vector<T>& list) {
    const std::size_t items = count(archive, list.size());
    if constexpr (std::is_same_v<T, std::uint8_t>) {
        list.resize(items);
        archive.raw(list.data(), items);
    } else if constexpr (A::reading) {
        list.clear();
        for (std::size_t i = 0; i < items; ++i) field(archive, list.emplace_back());
    } else {
        for (T& item : list) field(archive, item);
    }
}

void require(bool holds) {
    if (!holds) throw Damaged();
}

/// Numbers whose expressions are among so many.
void check_numbers(const std::vector<Number>& list, const Sizing& sizing) {
    for (const Number& n : list) require(n.expression < sizing.values());
}

void check_real(const Real& real, const Sizing& sizing) {
    require(real.kind <= Real::Kind::Root);
    check_numbers({real.of}, sizing);
}

/// Every number of a place names something that is there; `values`: before the scratch.
void check(const Alternative& x, std::size_t values, const Program& p) {
    require(x.sizing.sizes == p.sizes && x.sizing.sound());
    values += x.scratch.size();
    check_numbers(x.scratch, x.sizing);
    for (const RoutineCall& r : x.routines) {
        require(r.routine < p.routines.size());
        check_numbers(r.numbers, x.sizing);
        for (const Real& real : r.reals) check_real(real, x.sizing);
        for (const std::uint32_t value : r.memories) require(value < values - x.scratch.size());
        for (const Use& use : r.uses) require(use.value < values - x.scratch.size());
    }
    for (const Launch& l : x.launches) {
        require(l.code < p.codes.size() && l.extents.size() == static_cast<std::size_t>(p.codes[l.code].rank));
        check_numbers(l.extents, x.sizing);
        check_numbers(l.words, x.sizing);
        for (const Patch& patch : l.addresses) {
            require(patch.word < l.words.size() && (patch.value < values || patch.value == status_value));
            check_numbers({patch.bytes}, x.sizing);
        }
        for (const SizeWord& scalar : l.scalars) {
            require(scalar.word < l.words.size() && static_cast<int>(scalar.dtype) < dtype_count);
            require(!is_complex(scalar.dtype) || scalar.word + std::size_t{1} < l.words.size());
            check_numbers({scalar.value}, x.sizing);
        }
        for (const RealWord& real : l.reals) {
            require(static_cast<int>(real.dtype) < dtype_count && static_cast<int>(real.own) < dtype_count);
            require(real.word + (is_complex(real.dtype) ? std::size_t{1} : 0) < l.words.size());
            check_real(real.value, x.sizing);
        }
        for (const Use& use : l.uses) require(use.value < values);
        for (const Failure& failure : l.failures) require(failure.code <= static_cast<std::uint8_t>(ErrorCode::Matrix));
        check_numbers({l.elements, l.operations, l.bytes_read, l.bytes_written}, x.sizing);
    }
    for (const LoopShape& l : x.loops) check_numbers({l.inner, l.innermost, l.remainder}, x.sizing);
}

void check(const Regime& r, const Program& p) {
    require(r.sizing.sizes == p.sizes && r.sizing.sound());
    check_numbers(r.slots, r.sizing);
    const std::size_t values = p.arguments.size() + p.constants.size() + r.slots.size();
    for (const Step& step : r.steps)
        for (const Alternative& x : step.alternatives) check(x, values, p);
    require(r.outputs.size() == p.outputs.size());
    for (const Output& o : r.outputs) {
        require(o.value < values && o.shape.size() == o.strides.size() && o.shape.size() <= most_dimensions);
        check_numbers({o.offset}, r.sizing);
        check_numbers(o.shape, r.sizing);
        check_numbers(o.strides, r.sizing);
    }
}

void check(const Program& p) {
    require(p.sizes >= 0 && p.sizes <= static_cast<std::int32_t>(most_dimensions * p.arguments.size()));
    const auto dtype = [](DType t) { require(static_cast<int>(t) < dtype_count); };
    for (const Argument& a : p.arguments) {
        dtype(a.dtype);
        require(a.shape.size() <= most_dimensions);
        for (const Extent& e : a.shape) require(e.size < p.sizes);
    }
    for (const DType t : p.outputs) dtype(t);
    for (const Code& c : p.codes) {
        require(c.rank >= 0 && c.rank <= static_cast<std::int32_t>(most_dimensions) && c.granularity > 0);
        require(c.group_size.empty() || c.group_size.size() == static_cast<std::size_t>(c.rank));
        for (const std::int64_t n : c.group_size) require(n > 0);
    }
    for (const Regime& r : p.regimes)
        require(r.sizes.size() == static_cast<std::size_t>(p.sizes) && (!r.unread.empty() || !r.refused.empty()));
}

/// Bytes in memory as a file.
class Memory final : public Loaded::Source {
public:
    explicit Memory(std::span<const std::uint8_t> bytes) : bytes_(bytes.begin(), bytes.end()) {}
    std::uint64_t size() const override { return bytes_.size(); }
    bool read(std::uint64_t offset, void* to, std::size_t count) const override {
        if (offset > bytes_.size() || bytes_.size() - offset < count) return false;
        if (count) std::memcpy(to, bytes_.data() + offset, count);
        return true;
    }

private:
    const std::vector<std::uint8_t> bytes_;
};

class File final : public Loaded::Source {
public:
    explicit File(const std::string& path) : fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)) {
        struct stat info {};
        if (fd_ >= 0 && ::fstat(fd_, &info) == 0 && S_ISREG(info.st_mode)) size_ = static_cast<std::uint64_t>(info.st_size);
    }
    ~File() override {
        if (fd_ >= 0) ::close(fd_);
    }
    File(const File&) = delete;
    bool there() const { return fd_ >= 0; }
    std::uint64_t size() const override { return size_; }
    bool read(std::uint64_t offset, void* to, std::size_t count) const override {
        auto* at = static_cast<char*>(to);
        while (count > 0) {
            const ssize_t n = ::pread(fd_, at, count, static_cast<off_t>(offset));
            if (n <= 0) return false;
            at += n;
            offset += static_cast<std::uint64_t>(n);
            count -= static_cast<std::size_t>(n);
        }
        return true;
    }

private:
    int fd_;
    std::uint64_t size_ = 0;
};

}  // namespace

std::vector<std::uint8_t> to_bytes(const Program& program, const std::vector<DevicePart>& parts, Hash128& digest) {
    std::vector<std::pair<Section, std::vector<std::uint8_t>>> sections;
    const auto add = [&](Section::Kind kind, std::size_t number, std::vector<std::uint8_t> bytes) {
        const Section section{kind, static_cast<std::uint32_t>(number), 0, bytes.size(), hash128(bytes.data(), bytes.size())};
        sections.emplace_back(section, std::move(bytes));
    };
    Writer description;
    field(description, const_cast<Program&>(program));  // a writer changes nothing
    add(Section::Description, 0, std::move(description.bytes));
    for (std::size_t target = 0; target < program.targets.size(); ++target) {
        Writer code;  // how long each object is, then the objects
        for (const Code& c : program.codes) {
            const std::uint64_t bytes = c.objects[target].size();
            code.raw(&bytes, sizeof bytes);
        }
        for (const Code& c : program.codes) code.raw(c.objects[target].data(), c.objects[target].size());
        add(Section::Code, target, std::move(code.bytes));
    }
    if (!program.math.empty()) add(Section::Math, 0, program.math);
    std::vector<const std::vector<std::uint8_t>*> pool;
    for (const Constant& c : program.constants) pool.push_back(&c.bytes);
    for (std::size_t k = 0; k < parts.size(); ++k) {
        const DevicePart& part = parts[k];
        std::vector<std::uint32_t> constants;
        for (const Constant& c : part.program.constants) {
            auto known = std::ranges::find_if(pool, [&](const auto* bytes) { return *bytes == c.bytes; });
            if (known == pool.end()) {
                add(Section::Constant, pool.size() - program.constants.size(), c.bytes);
                known = pool.insert(known, &c.bytes);
            }
            constants.push_back(static_cast<std::uint32_t>(known - pool.begin()));
        }
        std::vector<std::vector<std::int64_t>> traits;
        for (const Code& c : part.program.codes) traits.push_back(c.traits);
        std::vector<std::pair<std::string, std::string>> forms;
        for (const Form& form : part.forms) forms.emplace_back(form.target, form.name);
        Writer own;
        bool groups = part.groups;
        field(own, const_cast<Program&>(part.program), constants, groups, traits, forms);  // a writer changes nothing
        add(Section::Part, k, std::move(own.bytes));
        for (std::size_t f = 0; f < part.forms.size(); ++f) {
            Writer form;
            field(form, const_cast<Form&>(part.forms[f]).images);
            field(form, const_cast<Form&>(part.forms[f]).lengths);
            field(form, const_cast<Form&>(part.forms[f]).packed);
            add(Section::FormOfPart, k * most_forms + f, std::move(form.bytes));
        }
    }
    std::uint64_t offset = sizeof(Header) + sections.size() * sizeof(Section);
    Writer table;
    for (auto& [section, bytes] : sections) {
        section.offset = offset;
        offset += bytes.size();
        table.raw(&section, sizeof section);
    }
    digest = hash128(table.bytes.data(), table.bytes.size());
    Header header{};
    std::memcpy(header.magic, magic, sizeof magic);
    header.major = format_major;
    header.minor = format_minor;
    header.sections = static_cast<std::uint32_t>(sections.size());
    header.digest = digest;
    Writer file;
    file.raw(&header, sizeof header);
    file.raw(table.bytes.data(), table.bytes.size());
    for (const auto& [section, bytes] : sections) file.raw(bytes.data(), bytes.size());
    return std::move(file.bytes);
}

struct Loaded::Sections {
    std::unique_ptr<Source> source;
    std::string path;
    std::vector<Section> table;

    [[nodiscard]] Error refusal(const std::string& why) const { return Error(ErrorCode::Value, "cannot load " + path + ": " + why); }
    [[nodiscard]] Error damaged() const { return refusal("it is damaged: its digest is another one"); }
    bool has(Section::Kind kind) const {
        return std::ranges::any_of(table, [&](const Section& s) { return s.kind == kind; });
    }
    std::vector<std::uint8_t> read(Section::Kind kind, std::size_t number) const {
        const auto found = std::ranges::find_if(table, [&](const Section& s) { return s.kind == kind && s.number == number; });
        if (found == table.end()) throw damaged();
        std::vector<std::uint8_t> bytes(found->bytes);
        if (!source->read(found->offset, bytes.data(), bytes.size()) || hash128(bytes.data(), bytes.size()) != found->digest)
            throw damaged();
        return bytes;
    }
};

std::unique_ptr<Loaded> Loaded::read_from(std::unique_ptr<Source> from, const std::string& path, bool with_math) {
    const auto sections = std::make_shared<Sections>();
    sections->source = std::move(from);
    sections->path = path;
    const Source& source = *sections->source;
    std::vector<Section>& table = sections->table;
    Header header;
    if (!source.read(0, &header, sizeof header) || std::memcmp(header.magic, magic, sizeof magic) != 0)
        throw sections->refusal("it is no program of pardo.export");
    if (header.major != format_major)
        throw sections->refusal("it is of format " + std::to_string(header.major) + "." + std::to_string(header.minor) +
                                ", this pardo runs format " + std::to_string(format_major) + ": export it anew");
    if (header.sections > most_sections) throw sections->damaged();
    table.resize(header.sections);
    if (!source.read(sizeof header, table.data(), table.size() * sizeof(Section)) ||
        hash128(table.data(), table.size() * sizeof(Section)) != header.digest)
        throw sections->damaged();
    std::uint64_t end = sizeof header + table.size() * sizeof(Section);
    for (const Section& s : table) {
        if (s.bytes > most_bytes || s.offset != end) throw sections->damaged();
        end += s.bytes;
    }
    if (end != source.size()) throw sections->damaged();
    auto loaded = std::make_unique<Loaded>();
    Program& program = loaded->program_;
    try {
        const std::vector<std::uint8_t> description = sections->read(Section::Description, 0);
        Reader reader(description.data(), description.size());
        field(reader, program);
        require(reader.left() == 0);
        check(program);
        int best = -1;
        std::size_t target = 0;
        for (std::size_t i = 0; i < program.targets.size(); ++i)
            if (const int rank = rank_of_target(program.targets[i]); rank > best) best = rank, target = i;
        if (sections->has(Section::Part) && (!with_math || best < 0)) loaded->read_parts(sections);
        if (best < 0) {
            std::string list;
            for (const std::string& name : loaded->targets()) list += (list.empty() ? "" : ", ") + name;
            const bool devices = !loaded->parts_.empty();
            if (devices && !with_math) return loaded;
            throw sections->refusal("it has code for " + list + ", and " +
                                    (devices ? "this library runs code of CPUs that this processor has; other devices take the whole "
                                               "library: pardo.load_program"
                                             : "this processor runs none of these"));
        }
        loaded->target_ = program.targets[target];
        loaded->code_ = sections->read(Section::Code, target);
        Reader lengths(loaded->code_.data(), loaded->code_.size());
        std::uint64_t offset = program.codes.size() * sizeof(std::uint64_t);
        for (std::size_t i = 0; i < program.codes.size(); ++i) {
            std::uint64_t bytes;
            lengths.raw(&bytes, sizeof bytes);
            require(bytes <= loaded->code_.size() - std::min<std::uint64_t>(offset, loaded->code_.size()));
            loaded->objects_.push_back({offset, bytes});
            offset += bytes;
        }
        require(offset == loaded->code_.size());
        if (with_math && sections->has(Section::Math)) program.math = sections->read(Section::Math, 0);
    } catch (const Damaged&) {
        throw sections->refusal("it is damaged");
    }
    return loaded;
}

/// Each is a program of its own, with the names, arguments and dtypes of this one.
void Loaded::read_parts(const std::shared_ptr<const Sections>& sections) {
    for (const Section& s : sections->table) {
        if (s.kind != Section::Part) continue;
        const std::vector<std::uint8_t> bytes = sections->read(Section::Part, s.number);
        Reader reader(bytes.data(), bytes.size());
        auto part = std::make_unique<Loaded>();
        Program& p = part->program_;
        std::vector<std::uint32_t> constants;
        std::vector<std::vector<std::int64_t>> traits;
        std::vector<std::pair<std::string, std::string>> forms;
        field(reader, p, constants, part->groups_, traits, forms);
        require(reader.left() == 0 && traits.size() == p.codes.size() && forms.size() <= most_forms);
        p.name = program_.name;
        p.made_by = program_.made_by;
        p.arguments = program_.arguments;
        p.sizes = program_.sizes;
        p.tuple = program_.tuple;
        p.outputs = program_.outputs;
        for (const std::uint32_t c : constants) {
            if (c < program_.constants.size())
                p.constants.push_back(program_.constants[c]);
            else
                p.constants.push_back({sections->read(Section::Constant, c - program_.constants.size())});
        }
        for (std::size_t i = 0; i < traits.size(); ++i) p.codes[i].traits = std::move(traits[i]);
        check(p);
        for (const auto& [target, name] : forms) part->forms_.push_back({target, name, {}, {}, {}});
        part->is_part_ = true;
        part->number_ = s.number;
        part->sections_ = sections;
        parts_.push_back(std::move(part));
    }
}

std::vector<std::string> Loaded::targets() const {
    std::vector<std::string> all = program_.targets;
    for (const auto& part : parts_)
        for (const Form& form : part->forms_)
            if (std::ranges::find(all, form.target) == all.end()) all.push_back(form.target);
    return all;
}

const Loaded* Loaded::part(bool groups) const {
    const auto found = std::ranges::find(parts_, groups, [](const auto& part) { return part->groups_; });
    return found == parts_.end() ? nullptr : found->get();
}

Form Loaded::read_form(std::size_t number) const {
    Form form = forms_[number];
    try {
        const std::vector<std::uint8_t> bytes = sections_->read(Section::FormOfPart, number_ * most_forms + number);
        Reader reader(bytes.data(), bytes.size());
        field(reader, form.images);
        field(reader, form.lengths);
        field(reader, form.packed);
        require(reader.left() == 0 && form.images.size() == program_.codes.size());
        for (const std::vector<Image>& images : form.images)
            for (const Image& image : images) require(image.content < form.lengths.size());
    } catch (const Damaged&) {
        throw sections_->refusal("it is damaged");
    }
    return form;
}

std::mutex& Loaded::mutex() {
    static auto& mutex = *new std::mutex;
    return mutex;
}

std::unique_ptr<Loaded> Loaded::read(const std::string& path, bool with_math) {
    auto file = std::make_unique<File>(path);
    if (!file->there()) throw Error(ErrorCode::Value, "cannot load " + path + ": it cannot be read");
    return read_from(std::move(file), path, with_math);
}

std::unique_ptr<Loaded> Loaded::from_bytes(std::span<const std::uint8_t> bytes, const std::string& path, bool with_math) {
    return read_from(std::make_unique<Memory>(bytes), path, with_math);
}

std::span<const std::uint8_t> Loaded::object(std::size_t code) const {
    return std::span(code_).subspan(objects_[code].offset, objects_[code].bytes);
}

const Regime& Loaded::whole(std::size_t number) const {
    const std::lock_guard lock(mutex());
    auto& regime = const_cast<Regime&>(program_.regimes[number]);  // by the lock, once
    if (regime.unread.empty()) return regime;
    try {
        Reader reader(regime.unread.data(), regime.unread.size());
        body(reader, regime);
        if (is_part_) loops(reader, regime);
        require(reader.left() == 0);
        check(regime, program_);
    } catch (const Damaged&) {
        throw Error(ErrorCode::Value, program_.name + ": the program is damaged");
    }
    regime.unread.clear();
    return regime;
}

bool is_program(const std::string& path) {
    const File file(path);
    char begin[sizeof magic];
    return file.there() && file.size() >= sizeof begin && file.read(0, begin, sizeof begin) && std::memcmp(begin, magic, sizeof magic) == 0;
}

}  // namespace pardo::saved
