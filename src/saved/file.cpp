// src/saved/file.cpp: programs as bytes: a header, a table of sections with their digests, and the sections: what the program is, machine
// code for each target, and the library of mathematical functions. A reader reads what it needs.
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
namespace {

constexpr char magic[8] = {'p', 'a', 'r', 'd', 'o', 'r', 'u', 'n'};
struct Header {
    char magic[8];
    std::uint32_t major, minor, sections, unused;
    Hash128 digest;  // of the table
};
struct Section {
    enum Kind : std::uint32_t { Description, Code, Math };
    std::uint32_t kind, number;  // of code: the target
    std::uint64_t offset, bytes;
    Hash128 digest;
};
static_assert(sizeof(Header) == 40 && sizeof(Section) == 40);
constexpr std::uint32_t most_sections = 64;
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
/// The body is a list of bytes: it is read when it is needed.
template <class A> void field(A& a, Regime& r) {
    field(a, r.sizes), field(a, r.refused);
    if constexpr (A::reading) {
        field(a, r.unread);
    } else {
        Writer own;
        body(own, r);
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
    require(real.kind <= Real::Kind::RootReciprocal);
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
class Memory {
public:
    explicit Memory(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}
    std::uint64_t size() const { return bytes_.size(); }
    bool read(std::uint64_t offset, void* to, std::size_t count) const {
        if (offset > bytes_.size() || bytes_.size() - offset < count) return false;
        if (count) std::memcpy(to, bytes_.data() + offset, count);
        return true;
    }

private:
    std::span<const std::uint8_t> bytes_;
};

class File {
public:
    explicit File(const std::string& path) : fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)) {
        struct stat info {};
        if (fd_ >= 0 && ::fstat(fd_, &info) == 0 && S_ISREG(info.st_mode)) size_ = static_cast<std::uint64_t>(info.st_size);
    }
    ~File() {
        if (fd_ >= 0) ::close(fd_);
    }
    File(const File&) = delete;
    bool there() const { return fd_ >= 0; }
    std::uint64_t size() const { return size_; }
    bool read(std::uint64_t offset, void* to, std::size_t count) const {
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

std::vector<std::uint8_t> to_bytes(const Program& program, Hash128& digest) {
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

template <class Source> std::unique_ptr<Loaded> Loaded::read_from(Source& source, const std::string& path, bool with_math) {
    const auto refuse = [&](const std::string& why) { return Error(ErrorCode::Value, "cannot load " + path + ": " + why); };
    Header header;
    if (!source.read(0, &header, sizeof header) || std::memcmp(header.magic, magic, sizeof magic) != 0)
        throw refuse("it is no program of pardo.export");
    if (header.major != format_major)
        throw refuse("it is of format " + std::to_string(header.major) + "." + std::to_string(header.minor) + ", this pardo runs format " +
                     std::to_string(format_major) + ": export it anew");
    const Error damaged = refuse("it is damaged: its digest is another one");
    if (header.sections > most_sections) throw damaged;
    std::vector<Section> table(header.sections);
    if (!source.read(sizeof header, table.data(), table.size() * sizeof(Section)) ||
        hash128(table.data(), table.size() * sizeof(Section)) != header.digest)
        throw damaged;
    std::uint64_t end = sizeof header + table.size() * sizeof(Section);
    for (const Section& s : table) {
        if (s.bytes > most_bytes || s.offset != end) throw damaged;
        end += s.bytes;
    }
    if (end != source.size()) throw damaged;
    const auto read = [&](Section::Kind kind, std::size_t number) {
        const auto found = std::ranges::find_if(table, [&](const Section& s) { return s.kind == kind && s.number == number; });
        if (found == table.end()) throw damaged;
        std::vector<std::uint8_t> bytes(found->bytes);
        if (!source.read(found->offset, bytes.data(), bytes.size()) || hash128(bytes.data(), bytes.size()) != found->digest) throw damaged;
        return bytes;
    };
    auto loaded = std::make_unique<Loaded>();
    Program& program = loaded->program_;
    try {
        const std::vector<std::uint8_t> description = read(Section::Description, 0);
        Reader reader(description.data(), description.size());
        field(reader, program);
        require(reader.left() == 0);
        check(program);
        int best = -1;
        std::string list;
        for (std::size_t i = 0; i < program.targets.size(); ++i) {
            list += (i ? ", " : "") + program.targets[i];
            if (const int rank = rank_of_target(program.targets[i]); rank > best) best = rank, loaded->target_ = i;
        }
        if (best < 0) throw refuse("it has code for " + list + ", and this processor runs none of these");
        loaded->code_ = read(Section::Code, loaded->target_);
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
        const bool math = std::ranges::any_of(table, [](const Section& s) { return s.kind == Section::Math; });
        if (with_math && math) program.math = read(Section::Math, 0);
    } catch (const Damaged&) {
        throw refuse("it is damaged");
    }
    return loaded;
}

std::mutex& Loaded::mutex() {
    static auto& mutex = *new std::mutex;
    return mutex;
}

std::unique_ptr<Loaded> Loaded::read(const std::string& path, bool with_math) {
    File file(path);
    if (!file.there()) throw Error(ErrorCode::Value, "cannot load " + path + ": it cannot be read");
    return read_from(file, path, with_math);
}

std::unique_ptr<Loaded> Loaded::from_bytes(std::span<const std::uint8_t> bytes, const std::string& path, bool with_math) {
    Memory memory(bytes);
    return read_from(memory, path, with_math);
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
