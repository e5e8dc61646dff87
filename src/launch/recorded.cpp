// src/launch/recorded.cpp: kernels written in C++: what their operators and functions record becomes the statements of a Function.
#include <pardo/recorded_kernel.h>

#include <algorithm>
#include <atomic>
#include <cstring>

#include <pardo/binding/kernel.h>

namespace pardo {

namespace recorded {

using syntax::Form;
using syntax::Tree;

/// A number in a recording: its tree, how large that is, and the block where it was made.
struct Expression {
    Tree tree;
    int nodes = 1;
    std::uint64_t block = 0;  // 0: a plain number, which is the same anywhere
};

struct State {
    std::shared_ptr<const syntax::Function> function;
    std::vector<ParameterType> parameters;  // without the item
    Kernel kernel;
};

namespace {

constexpr int most_nodes = 16;  // of an expression without a name of its own, so that what is used often does not grow
constexpr const char* item_name = "item";

Tree tree(Form form, std::string name = {}, std::vector<Tree> parts = {}) {
    Tree t;
    t.form = form;
    t.name = std::move(name);
    t.parts = std::move(parts);
    return t;
}
Tree number_tree(Scalar s) {
    if (s.dtype == DType::UInt64 && s.weak && s.u <= 0x7fffffffffffffffu) s = Scalar(static_cast<std::int64_t>(s.u));
    Tree t = tree(Form::Number);
    t.number = s;
    return t;
}
Tree dtype_tree(DType dtype) {
    Tree t = tree(Form::DTypeName);
    t.index = static_cast<int>(dtype);
    return t;
}
Tree in_list(std::vector<Tree> parts) { return tree(Form::Tuple, {}, std::move(parts)); }

// ---- as text

std::string text_of(const Tree& t);

std::string listed(const std::vector<Tree>& parts, std::size_t from = 0) {
    std::string out;
    for (std::size_t k = from; k < parts.size(); ++k) out += (k > from ? ", " : "") + text_of(parts[k]);
    return out;
}

std::string number_text(const Scalar& s) {
    switch (kind_of(s.dtype)) {
        case DKind::Bool: return s.b ? "True" : "False";
        case DKind::Signed: return std::to_string(s.i);
        case DKind::Unsigned: return std::to_string(s.u);
        case DKind::Float: {
            char text[32];
            std::snprintf(text, sizeof text, "%.17g", s.f);
            return std::strpbrk(text, ".en") ? text : std::string(text) + ".0";
        }
        default: return "complex(" + std::to_string(s.c.re) + ", " + std::to_string(s.c.im) + ")";
    }
}

std::string text_of(const Tree& t) {
    const auto operand = [](const Tree& x) {
        const std::string text = text_of(x);
        return x.form == Form::Binary || x.form == Form::Compare || x.form == Form::Unary ? "(" + text + ")" : text;
    };
    switch (t.form) {
        case Form::Number: return number_text(t.number);
        case Form::DTypeName: return std::string(dtype_name(static_cast<DType>(t.index)));
        case Form::Name: return t.name;
        case Form::Tuple: return "(" + listed(t.parts) + (t.parts.size() == 1 ? ",)" : ")");
        case Form::Attribute: return text_of(t.parts[0]) + "." + t.name;
        case Form::Subscript: return text_of(t.parts[0]) + "[" + listed(t.parts, 1) + "]";
        case Form::Unary: return t.name + (t.name == "not" ? " " : "") + operand(t.parts[0]);
        case Form::Binary:
        case Form::Compare: return operand(t.parts[0]) + " " + t.name + " " + operand(t.parts[1]);
        case Form::Call: return t.name + "(" + listed(t.parts) + ")";
        case Form::Method: return text_of(t.parts[0]) + "." + t.name + "(" + listed(t.parts, 1) + ")";
        default: return "…";
    }
}

/// Writes each statement as a line, and notes in its trees where that is.
struct Listing {
    std::vector<std::string>& lines;

    void put(Tree& t, const std::string& text, int depth) {
        lines.push_back(std::string(static_cast<std::size_t>(4 * depth), ' ') + text);
        place(t, static_cast<int>(lines.size()), 4 * depth, static_cast<int>(lines.back().size()));
    }
    static void place(Tree& t, int line, int column, int end) {
        t.place = {line, column, line, end};
        for (Tree& part : t.parts)
            if (part.form != Form::Block) place(part, line, column, end);
    }
    void block(Tree& t, int depth) {
        const int first = static_cast<int>(lines.size()) + 1;
        for (Tree& part : t.parts) statement(part, depth);
        if (t.parts.empty()) lines.push_back(std::string(static_cast<std::size_t>(4 * depth), ' ') + "pass");
        t.place = {first, 0, static_cast<int>(lines.size()), static_cast<int>(lines.back().size())};
    }
    void statement(Tree& t, int depth) {
        switch (t.form) {
            case Form::Assign: return put(t, text_of(t.parts[0]) + " = " + text_of(t.parts[1]), depth);
            case Form::Discard: return put(t, text_of(t.parts[0]), depth);
            case Form::Break: return put(t, "break", depth);
            case Form::Continue: return put(t, "continue", depth);
            case Form::Return: return put(t, "return", depth);
            case Form::If:
                put(t, "if " + text_of(t.parts[0]) + ":", depth);
                block(t.parts[1], depth + 1);
                if (t.parts[2].parts.empty()) return;
                lines.push_back(std::string(static_cast<std::size_t>(4 * depth), ' ') + "else:");
                return block(t.parts[2], depth + 1);
            case Form::For:
                put(t, "for " + text_of(t.parts[0]) + " in range(" + listed({t.parts[1], t.parts[2], t.parts[3]}) + "):", depth);
                return block(t.parts[4], depth + 1);
            default: put(t, "while True:", depth); return block(t.parts[1], depth + 1);
        }
    }
};

// ---- recording

struct Block {
    Form form = Form::Block;  // If, For, While; Block: the function itself
    std::vector<Tree> head;   // the parts before the block
    std::vector<Tree> statements;
    std::optional<std::vector<Tree>> before_else{};
    std::uint64_t id = 0;
};

struct Recorder {
    std::vector<ParameterType> parameters;
    std::vector<Block> blocks;
    int names = 0;

    std::string new_name(const char* prefix) { return prefix + std::to_string(names++); }
    void add(Tree statement) { blocks.back().statements.push_back(std::move(statement)); }
    void open(Form form, std::vector<Tree> head) {
        static std::atomic<std::uint64_t> last = 0;  // of the process: values of one thread are none of another's kernel
        blocks.push_back({form, std::move(head), {}, {}, ++last});
    }
};

thread_local std::unique_ptr<Recorder> recorder;  // NOLINT(clang-diagnostic-exit-time-destructors): each thread has its own

Recorder& current() {
    if (!recorder) throw Error(ErrorCode::Value, "kernel: what it is written with is used outside of the function that is recorded");
    return *recorder;
}

const Tree& tree_of(const Value& x) {
    const Expression& e = *x.expression();
    const std::vector<Block>& open = current().blocks;
    if (e.block != 0 && std::ranges::find(open, e.block, &Block::id) == open.end())
        throw Error(ErrorCode::Value, "kernel: `" + text_of(e.tree) +
                                          "` was made in a branch, a loop or a kernel that is over; a Var made before it keeps a number");
    return e.tree;
}

std::vector<Tree> trees_of(std::span<const Value> values) {
    std::vector<Tree> trees;
    for (const Value& v : values) trees.push_back(tree_of(v));
    return trees;
}

Value made(Tree t, int nodes = 1) {
    return Value(std::make_shared<const Expression>(Expression{std::move(t), nodes, current().blocks.back().id}));
}

/// The value under a name, computed here.
Value kept(Tree t) {
    const std::string name = current().new_name("t");
    current().add(tree(Form::Assign, {}, {tree(Form::Name, name), std::move(t)}));
    return made(tree(Form::Name, name));
}

/// An expression of parts, under a name if it is long.
Value of_parts(Form form, const char* name, std::span<const Value> parts, std::optional<Tree> last = {}) {
    int nodes = 1;
    for (const Value& part : parts) nodes += part.expression()->nodes;
    Tree t = tree(form, name, trees_of(parts));
    if (last) t.parts.push_back(std::move(*last));
    return nodes > most_nodes ? kept(std::move(t)) : made(std::move(t), nodes);
}

Tree element_of(const std::string& array, std::span<const Value> index) {
    Tree t = tree(Form::Subscript, {}, {tree(Form::Name, array)});
    for (Tree& part : trees_of(index)) t.parts.push_back(std::move(part));
    return t;
}

}  // namespace

Value call(const char* function, std::initializer_list<Value> arguments) {
    return of_parts(Form::Call, function, std::span(arguments.begin(), arguments.size()));
}
Value unary(const char* op, const Value& x) { return of_parts(Form::Unary, op, std::span(&x, 1)); }
Value binary(const char* op, const Value& x, const Value& y) {
    const Value parts[] = {x, y};
    return of_parts(Form::Binary, op, parts);
}
Value compare(const char* op, const Value& x, const Value& y) {
    const Value parts[] = {x, y};
    return of_parts(Form::Compare, op, parts);
}
Value converted(const Value& x, DType dtype) { return of_parts(Form::Call, "astype", std::span(&x, 1), dtype_tree(dtype)); }

Value of_item(const char* method, int dimension) {
    Tree t = tree(Form::Method, method, {tree(Form::Name, item_name)});
    if (dimension >= 0) t.parts.push_back(number_tree(Scalar(dimension)));
    return made(std::move(t));
}
Value extent_of(const std::string& array, int dimension) {
    Tree shape = tree(Form::Attribute, "shape", {tree(Form::Name, array)});
    return made(tree(Form::Subscript, {}, {std::move(shape), number_tree(Scalar(dimension))}));
}

Value load(const std::string& array, ListOf<Value> index) { return kept(element_of(array, index)); }
void store(const std::string& array, ListOf<Value> index, const Value& value) {
    current().add(tree(Form::Assign, {}, {element_of(array, index), tree_of(value)}));
}
Value atomic(const char* op, const std::string& array, ListOf<Value> index, std::initializer_list<Value> values) {
    std::vector<Tree> places = trees_of(index);
    Tree t = tree(Form::Call, std::string("atomic.") + op, {tree(Form::Name, array)});
    t.parts.push_back(places.size() == 1 ? std::move(places[0]) : in_list(std::move(places)));
    for (Tree& part : trees_of({values.begin(), values.size()})) t.parts.push_back(std::move(part));
    return kept(std::move(t));
}

std::string new_memory(const char* kind, DType dtype, Extents shape) {
    std::vector<Tree> extents;
    for (const std::int64_t n : shape) extents.push_back(number_tree(Scalar(n)));
    const std::string name = current().new_name(std::strcmp(kind, "local_array") == 0 ? "local" : "private");
    current().add(
        tree(Form::Assign, {}, {tree(Form::Name, name), tree(Form::Call, kind, {in_list(std::move(extents)), dtype_tree(dtype)})}));
    return name;
}

std::string new_variable(DType dtype, const Value& value) {
    const std::string name = current().new_name("v");
    assign(name, dtype, value);
    return name;
}
void assign(const std::string& variable, DType dtype, const Value& value) {
    current().add(tree(Form::Assign, {}, {tree(Form::Name, variable), tree_of(converted(value, dtype))}));
}
Value snapshot(const std::string& variable) { return kept(tree(Form::Name, variable)); }
Value number(const std::string& parameter) { return made(tree(Form::Name, parameter)); }

void barrier() { current().add(tree(Form::Discard, {}, {tree(Form::Call, "barrier")})); }
void leave(int form) {
    constexpr Form forms[] = {Form::Break, Form::Continue, Form::Return};
    const auto loops = [](const Block& b) { return b.form == Form::For || b.form == Form::While; };
    if (form != 2 && std::ranges::none_of(current().blocks, loops))
        throw Error(ErrorCode::Value, std::string(form == 0 ? "Break" : "Continue") + ": there is no loop around it");
    current().add(tree(forms[form]));
}

void begin_if(const Value& test) { current().open(Form::If, {tree_of(test)}); }
void begin_else() {
    Block& b = current().blocks.back();
    b.before_else = std::exchange(b.statements, {});
    Block again = std::move(b);
    current().blocks.pop_back();
    current().open(Form::If, std::move(again.head));  // values of the first branch are none of the second
    current().blocks.back().before_else = std::move(again.before_else);
}
Value begin_for(const Value& start, const Value& stop, const Value& step) {
    Recorder& r = current();
    const std::string name = r.new_name("k");
    r.open(Form::For, {tree(Form::Name, name), tree_of(start), tree_of(stop), tree_of(step)});
    return made(tree(Form::Name, name));
}
void begin_while() { current().open(Form::While, {number_tree(Scalar(1))}); }
void begin_body(const Value& test) {
    const Tree not_any_more = tree(Form::Unary, "not", {tree_of(test)});
    current().add(tree(Form::If, {}, {not_any_more, tree(Form::Block, {}, {tree(Form::Break)}), tree(Form::Block)}));
}
void end_block() {
    Recorder& r = current();
    Block b = std::move(r.blocks.back());
    r.blocks.pop_back();
    std::vector<Tree> parts = std::move(b.head);
    Tree body = tree(Form::Block, {}, std::move(b.statements)), other = tree(Form::Block);
    if (b.before_else) other = std::exchange(body, tree(Form::Block, {}, std::move(*b.before_else)));
    parts.push_back(std::move(body));
    parts.push_back(std::move(other));
    r.add(tree(b.form, {}, std::move(parts)));
}

// ---- functions

std::string Function::parameter_name(std::size_t k) { return "x" + std::to_string(k); }

void Function::begin(const std::vector<ParameterType>& parameters) {
    if (recorder) throw Error(ErrorCode::Value, "kernel: another one is being recorded; make kernels outside of each other");
    recorder = std::make_unique<Recorder>();
    recorder->parameters.assign(parameters.begin() + 1, parameters.end());
    recorder->open(Form::Block, {});
}

void Function::abandon() noexcept { recorder.reset(); }

Function Function::end(std::string name, int fast_math, bool checks, const std::string& where) {
    const std::unique_ptr<Recorder> done = std::move(recorder);
    auto function = std::make_shared<syntax::Function>();
    function->name = std::move(name);
    function->file = "<kernel at " + where + ">";
    function->params.emplace_back(item_name);
    KernelOptions options;
    options.fast_math = static_cast<std::uint8_t>(std::clamp(fast_math, 0, 2));
    options.checks = checks ? Checks::Indices : Checks::None;
    for (std::size_t k = 0; k < done->parameters.size(); ++k) {
        function->params.push_back(parameter_name(k));
        const Parameter kind = done->parameters[k].kind;
        options.access.push_back(kind == Parameter::Read    ? ArgumentUse::Read
                                 : kind == Parameter::Write ? ArgumentUse::Write
                                                            : ArgumentUse::None);
    }
    function->body = tree(Form::Block, {}, std::move(done->blocks.front().statements));
    Listing{function->lines}.block(function->body, 0);

    Function out;
    out.state_ = std::make_shared<const State>(State{function, std::move(done->parameters), Kernel(function, true, options)});
    return out;
}

namespace {

std::vector<KernelArgument> checked(const State& state, const std::vector<Function::Argument>& given) {
    std::vector<KernelArgument> arguments(given.size());
    for (std::size_t k = 0; k < given.size(); ++k) {
        const auto& [array, scalar] = given[k];
        if (!array) {
            arguments[k].scalar = scalar;
            continue;
        }
        const auto fail = [&](ErrorCode code, const std::string& text) {
            throw Error(code, state.function->name + ": argument " + std::to_string(k) + " " + text);
        };
        if (!array->node()) fail(ErrorCode::Value, "has no value: it was made without one, or moved from");
        if (array->dtype() != state.parameters[k].dtype)
            fail(ErrorCode::Type, "must be an array of " + std::string(dtype_name(state.parameters[k].dtype)) + ", not " +
                                      std::string(dtype_name(array->dtype())) + ": astype converts it");
        arguments[k].kind = KernelArgument::Kind::Array;
        arguments[k].array = *array;
    }
    return arguments;
}

}  // namespace

Event Function::launch(const std::vector<Argument>& arguments, const NdRange& range, const Queue* queue) const {
    return state_->kernel.launch(checked(*state_, arguments), range, queue);
}
std::string Function::inspect(const std::vector<Argument>& arguments, const NdRange& range, const std::string& what) const {
    return state_->kernel.inspect(checked(*state_, arguments), range, what);
}
std::string Function::text() const {
    std::string text;
    for (const std::string& line : state_->function->lines) text += line + "\n";
    return text;
}

}  // namespace recorded

Value::Value(const Scalar& number)
    : expression_(std::make_shared<const recorded::Expression>(recorded::Expression{recorded::number_tree(number)})) {}

}  // namespace pardo
