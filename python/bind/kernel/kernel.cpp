// python/bind/kernel/kernel.cpp: pardo/binding/kernel.h and syntax.h there for Python: trees from tuples, launches.
// This folder: functions that the library compiles: their trees, launches, programs, and the cache of these.
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/tuple.h>

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <thread>

#include <pardo/binding/kernel.h>
#include <pardo/binding/syntax.h>
#include <pardo/program.h>

#include "present.h"

namespace bind {

PyObject* local_class = nullptr;

const pardo::Queue* queue_from(nb::handle o) {
    if (o.is_none()) return nullptr;
    pardo::Queue* queue = nullptr;
    if (!nb::try_cast<pardo::Queue*>(o, queue) || !queue)
        throw pardo::Error(pardo::ErrorCode::Type, "queue: a pardo.Queue is expected, not " + class_name(o));
    return queue;
}

namespace {
/// What to give in place of what cannot be an argument.
std::string instead_of(nb::handle o) {
    PyObject* const p = o.ptr();
    if (Py_TYPE(p) == taking_over[0]) return "; call it with each part, s.map_shards(f), or gather the array on one device, s.to_device(d)";
    if (o.is_none()) return "; give a number that stands for nothing, or write two kernels";
    if (PyList_Check(p)) return "; pass pardo.asarray of the list, or a tuple of a few numbers";
    if (PyDict_Check(p)) return "; pass its values as arrays, or as the fields of a pardo.struct";
    if (PyAnySet_Check(p)) return "; pass an array of its elements";
    if (PyUnicode_Check(p) || PyBytes_Check(p)) return "; pass numbers, or pardo.asarray(numpy.frombuffer(…)) of bytes";
    if (PyType_Check(p)) return "; use the class inside of the kernel";
    if (PyCallable_Check(p)) return "; a plain function in Python is one";
    if (nb::hasattr(o, "__array__") || nb::hasattr(o, "__dlpack__")) return "; pass pardo.asarray of it";
    return "; give what it holds, as `w = obj.w` before it, or make its class a pardo.struct";
}
}  // namespace

void refuse_argument(nb::handle o, const std::string& place, const char* expected) {
    if (!is_numpy_array(o.ptr()))
        throw pardo::Error(pardo::ErrorCode::Type, place + ": " + expected + " is expected, not " + class_name(o) + instead_of(o));
    throw pardo::Error(pardo::ErrorCode::Type, place +
                                                   " is a NumPy array, and data does not move by itself; pass pardo.asarray(x), or "
                                                   "launch inside `with pardo.device_context(...)`");
}

namespace {

namespace syntax = pardo::syntax;
using pardo::KernelArgument;

using FunctionPtr = std::shared_ptr<syntax::Function>;
using ClassPtr = std::shared_ptr<syntax::Class>;
using List = nb::typed<nb::list, nb::any>;
using Tuple = nb::typed<nb::tuple, nb::any, nb::ellipsis>;

/// (form, line, column, end line, end column, name, number, index, parts); see python/pardo/_compiler/translator.py.
syntax::Tree tree_from(nb::handle o) {
    const auto t = nb::borrow<nb::tuple>(o);
    syntax::Tree tree;
    tree.form = static_cast<syntax::Form>(nb::cast<int>(t[0]));
    tree.place = {nb::cast<int>(t[1]), nb::cast<int>(t[2]), nb::cast<int>(t[3]), nb::cast<int>(t[4])};
    tree.name = nb::cast<std::string>(t[5]);
    if (!nb::handle(t[6]).is_none()) {
        const auto scalar = scalar_from(nb::handle(t[6]).ptr());
        if (!scalar) throw pardo::Error(pardo::ErrorCode::Type, "a number is expected, not " + class_name(t[6]));
        tree.number = *scalar;
    }
    tree.index = nb::cast<int>(t[7]);
    for (nb::handle part : nb::borrow<nb::list>(t[8])) tree.parts.push_back(tree_from(part));
    return tree;
}

/// Set by the package: the classes whose instances are arguments of their own kind, and what makes a `_Function`, or the name of one that
/// the language knows, of a Python function; None for everything else.
PyObject *constant_class = nullptr, *struct_class = nullptr, *translate = nullptr;

bool is_a(nb::handle o, PyObject* type) { return type && PyObject_IsInstance(o.ptr(), type) == 1; }

/// Where an argument is in a call, for messages.
struct At {
    const char* op_name;
    std::span<const std::string> names;  // of the parameters
    std::size_t argument;
    const At* outer = nullptr;  // of a part
    std::size_t part = 0;
    const std::vector<std::string>* fields = nullptr;  // of the struct that has it

    std::string path() const {
        if (!outer) return names[argument];
        return outer->path() + (fields ? "." + (*fields)[part] : "[" + std::to_string(part) + "]");
    }
    /// "f: `x[0]`"; parameters that the function does not have are counted.
    std::string text() const {
        const At* whole = this;
        while (whole->outer) whole = whole->outer;
        const bool named = whole->argument < names.size() && !names[whole->argument].starts_with('$');
        return std::string(op_name) + (named ? ": `" + path() + "`" : ": argument " + std::to_string(whole->argument + 1));
    }
};

void add_argument(std::vector<KernelArgument>& out, nb::handle o, const At& at);

void add_parts(std::vector<KernelArgument>& out, const nb::tuple& parts, const std::vector<std::string>& names, bool columns, int records,
               ClassPtr structure, const At& at) {
    KernelArgument head;
    head.kind = KernelArgument::Kind::Tuple;
    head.parts = parts.size();
    head.names = names;
    head.columns = columns;
    head.records = records;
    if (structure) head.members = structure->members();
    head.structure = std::move(structure);
    out.push_back(std::move(head));
    for (std::size_t k = 0; k < parts.size(); ++k) {
        if (!names.empty() && parts[k].is_none()) {
            out.emplace_back().kind = KernelArgument::Kind::None;
            continue;
        }
        add_argument(out, parts[k], {at.op_name, at.names, at.argument, &at, k, names.empty() ? nullptr : &names});
    }
}

void add_function(std::vector<KernelArgument>& out, nb::handle translated) {
    KernelArgument a;
    a.kind = KernelArgument::Kind::Function;
    if (!nb::try_cast<std::string>(translated, a.name)) a.function = nb::cast<FunctionPtr>(translated);
    out.push_back(std::move(a));
}

/// A number; one beyond 64 bits is named, and so is its argument.
std::optional<pardo::Scalar> number_at(nb::handle o, const At& at) {
    try {
        return scalar_from(o.ptr());
    } catch (const pardo::Error& e) {
        if (e.code() != pardo::ErrorCode::Overflow) throw;
        throw pardo::Error(e.code(), at.text() + " is " + str_of(o) + ", which does not fit int64 nor uint64");
    }
}

KernelArgument constant_at(nb::handle value, const At& at) {
    const auto constant = number_at(value, at);
    if (!constant) throw pardo::Error(pardo::ErrorCode::Type, at.text() + ": a constant is a number, not " + class_name(value));
    KernelArgument a;
    a.kind = KernelArgument::Kind::Constant;
    a.scalar = *constant;
    return a;
}

void add_argument(std::vector<KernelArgument>& out, nb::handle o, const At& at) {
    if (is_array(o.ptr())) {
        KernelArgument& array = out.emplace_back();
        array.kind = KernelArgument::Kind::Array;
        array.array = array_of(o.ptr());
        return;
    }
    if (const auto scalar = number_at(o, at)) {
        out.emplace_back().scalar = *scalar;
        return;
    }
    if (PyTuple_CheckExact(o.ptr())) return add_parts(out, nb::borrow<nb::tuple>(o), {}, false, 0, nullptr, at);
    KernelArgument a;
    if (is_a(o, local_class)) {
        a.kind = KernelArgument::Kind::Local;
        a.dtype = dtype_from(nb::object(o.attr("dtype")).ptr());
        a.extents = nb::cast<Ints>(o.attr("shape"));
    } else if (is_a(o, constant_class)) {
        a = constant_at(nb::object(o.attr("value")), at);
    } else if (is_a(o, struct_class)) {
        const nb::object known = o.attr("_class");
        ClassPtr structure;
        if (!known.is_none()) structure = nb::cast<ClassPtr>(known.attr("current")());
        return add_parts(out, nb::cast<nb::tuple>(o.attr("_values")()), nb::cast<std::vector<std::string>>(o.attr("_fields")), true,
                         nb::cast<int>(o.attr("_dimensions")), std::move(structure), at);
    } else if (nb::isinstance<pardo::Image>(o) || nb::isinstance<pardo::Sampler>(o)) {
        return add_argument(out, o.attr("_as_struct")(), at);
    } else {
        if (is_number_of_numpy(o.ptr())) return add_argument(out, o[nb::tuple()], at);
        const bool translates = translate && !is_numpy_array(o.ptr());
        const nb::object translated = translates ? nb::object(nb::handle(translate)(o)) : nb::none();
        if (translated.is_none()) refuse_argument(o, at.text(), "an array, a number, a tuple or a function");
        return add_function(out, translated);
    }
    out.push_back(std::move(a));
}

/// How many arguments a tuple makes, as far as tuples tell.
std::size_t count_of(PyObject* tuple) {
    const Py_ssize_t size = PyTuple_Size(tuple);
    auto count = static_cast<std::size_t>(size);
    for (Py_ssize_t k = 0; k < size; ++k) {
        PyObject* const part = PyTuple_GetItem(tuple, k);
        if (PyTuple_CheckExact(part)) count += count_of(part);
    }
    return count;
}

PyObject* make_struct = nullptr;  // set by the package

/// What is at a place of such a list, made into Python's: numbers by `number`, tuples, structs by the package: of their class's number,
/// or -1 for records, or 0; their fields, and the values.
template <typename Number> nb::object value_from(const std::vector<KernelArgument>& list, std::size_t& at, const Number& number) {
    const KernelArgument& a = list[at++];
    if (a.kind != KernelArgument::Kind::Tuple) return number(a);
    nb::list parts;
    for (std::size_t k = 0; k < a.parts; ++k) parts.append(value_from(list, at, number));
    if (a.names.empty()) return nb::tuple(parts);
    nb::list names;
    for (const std::string& name : a.names) names.append(name);
    return nb::handle(make_struct)(a.structure ? a.structure->number : a.records > 0 ? -1 : 0, nb::tuple(names), nb::tuple(parts));
}

/// Python's numbers for weak ones, NumPy's for the others.
nb::object python_number(const KernelArgument& a) {
    nb::object value = nb::steal(scalar_to_python(a.scalar));
    const bool has_dtype = !a.scalar.weak && a.scalar.dtype != pardo::DType::Bool;
    if (!has_dtype) return value;
    static PyObject* const name = PyUnicode_InternFromString("type");
    const nb::object type = nb::steal(PyObject_GetAttr(dtype_to_python(a.scalar.dtype).ptr(), name));
    if (!type.is_valid()) throw nb::python_error();
    return type(value);
}

/// Numbers of a list or tuple as elements of one type; false where one has another type, or does not fit.
template <typename T, typename Read>
bool read_numbers(PyObject* values, void* memory, Py_ssize_t count, PyTypeObject* type, const Read& read) {
    auto* out = static_cast<T*>(memory);
    const auto item = PyList_Check(values) ? PyList_GetItem : PyTuple_GetItem;
    for (Py_ssize_t k = 0; k < count; ++k) {
        const nb::object o = nb::borrow(item(values, k));
        if (!o.is_valid() || Py_TYPE(o.ptr()) != type) return false;
        out[k] = static_cast<T>(read(o.ptr()));
        if constexpr (std::is_same_v<T, std::int64_t>)
            if (out[k] == -1 && PyErr_Occurred()) return false;
    }
    return true;
}

bool numbers_of(nb::handle values, nb::handle out) {
    Py_buffer view;
    if (PyObject_GetBuffer(out.ptr(), &view, PyBUF_WRITABLE | PyBUF_FORMAT | PyBUF_C_CONTIGUOUS) != 0) nb::raise_python_error();
    PyObject* list = values.ptr();
    const Py_ssize_t count = std::min(PySequence_Size(list), view.len / view.itemsize);
    bool all = false;
    switch (view.format[0]) {
        case 'd': all = read_numbers<double>(list, view.buf, count, &PyFloat_Type, PyFloat_AsDouble); break;
        case '?': all = read_numbers<bool>(list, view.buf, count, &PyBool_Type, [](PyObject* o) { return o == Py_True; }); break;
        default: all = read_numbers<std::int64_t>(list, view.buf, count, &PyLong_Type, PyLong_AsLongLong); break;
    }
    PyBuffer_Release(&view);
    PyErr_Clear();
    return all;
}

List values_of(const std::vector<KernelArgument>& results) {
    List out;
    for (std::size_t at = 0; at < results.size();) out.append(value_from(results, at, python_number));
    return out;
}

}  // namespace

nb::list loop_results(const std::vector<KernelArgument>& results) { return values_of(results); }

nb::object loop_result(const std::vector<KernelArgument>& results) {
    std::size_t at = 0;
    if (results.size() == 1) return value_from(results, at, python_number);
    const nb::list all = values_of(results);
    return nb::len(all) == 1 ? nb::object(all[0]) : nb::tuple(all);
}

std::vector<KernelArgument> kernel_arguments(nb::handle list, const char* op_name, std::span<const std::string> names,
                                             std::uint64_t constants) {
    std::vector<KernelArgument> out;
    const auto given = nb::borrow<nb::tuple>(list);
    out.reserve(count_of(list.ptr()));
    std::size_t k = 0;
    for (nb::handle o : given) {
        const At at{op_name, names, k};
        if (k < 64 && constants >> k & 1)
            out.push_back(constant_at(o, at));
        else
            add_argument(out, o, at);
        ++k;
    }
    return out;
}

pardo::Event launch(const pardo::Kernel& kernel, nb::handle arguments, const pardo::NdRange& range, nb::handle queue, nb::handle depends,
                    const char* op_name, std::uint64_t constants) {
    const std::vector<KernelArgument> given = kernel_arguments(arguments, op_name, kernel.parameters(), constants);
    const pardo::Queue* on = queue_from(queue);
    const std::vector<pardo::Event> after = depends.is_none() ? std::vector<pardo::Event>() : depends_from(depends, op_name);
    const Unlocked unlocked;
    return kernel.launch(given, range, on, after);
}

namespace {

/// What a kernel prints.
struct PrintedLine {
    nb::handle function;
    std::string format;
    std::vector<KernelArgument> values;

    /// False with Python's error set.
    bool print() const {
        try {
            List given;
            for (std::size_t at = 0; at < values.size();) given.append(value_from(values, at, python_number));
            function(format, given);
            return true;
        } catch (nb::python_error& e) {
            e.restore();
            return false;
        }
    }
};

/// Of a kernel that runs while the interpreter ends, or while the process forks: a thread that runs Python's code prints. A child has what
/// its parent prints in memory too.
struct LateLine {
    std::unique_ptr<const PrintedLine> line;
    pid_t process = getpid();
};
void print_late(void* late) {
    const std::unique_ptr<const LateLine> owned(static_cast<const LateLine*>(late));
    if (owned->process != getpid() || !Py_IsInitialized()) return;
    if (!owned->line->print()) PyErr_WriteUnraisable(owned->line->function.ptr());
}

/// fork() has the GIL while it waits for kernels: those that print do not wait for the GIL then.
std::atomic<int> printing = 0;  // threads
thread_local int printing_here = 0;

/// True while lines are printed at once, by this thread.
class Printing {
public:
    Printing() {
        ++printing_here;
        printing.fetch_add(1);
        now_ = forking.load() == 0;
        if (!now_) leave();
    }
    ~Printing() {
        if (now_) leave();
    }
    Printing(const Printing&) = delete;
    explicit operator bool() const { return now_; }

private:
    static void leave() {
        --printing_here;
        printing.fetch_sub(1);
    }
    bool now_ = false;
};

/// What is being printed comes to its end; what comes later is printed after the fork.
void hold_prints() {
    forking = getpid();
    const Unlocked unlocked;
    while (printing.load() > printing_here) std::this_thread::sleep_for(std::chrono::microseconds(50));
}

}  // namespace

void bind_kernel(nb::module_& m) {
    m.def(
        "_dtype_number", [](nb::handle o) { return static_cast<int>(dtype_from(o.ptr())); }, nb::arg("dtype"));
    hook("make_struct", [](nb::handle function) { keep(make_struct, function); });
    hook("local_class", [](nb::handle kind) { keep(local_class, kind); });
    hook("constant_class", [](nb::handle kind) { keep(constant_class, kind); });
    hook("struct_class", [](nb::handle kind) { keep(struct_class, kind); });
    hook("function_argument", [](nb::handle function) { keep(translate, function); });

    nb::class_<syntax::Class>(m, "_Class", "A class of structs as the compiler takes it.")
        .def(nb::new_([](int number) { return std::make_shared<syntax::Class>(number); }), nb::arg("number"))
        .def(
            "_set",
            [](syntax::Class& c, List members) {  // (name, kind, function or None, code, problem)
                auto made = std::make_shared<syntax::Class::Members>();
                for (nb::handle each : members) {
                    const auto t = nb::borrow<nb::tuple>(each);
                    syntax::Member& member = (*made)[nb::cast<std::string>(t[0])];
                    member.kind = static_cast<syntax::Member::Kind>(nb::cast<int>(t[1]));
                    if (!nb::handle(t[2]).is_none()) member.function = nb::cast<FunctionPtr>(t[2]);
                    member.code = static_cast<pardo::ErrorCode>(nb::cast<int>(t[3]));
                    member.problem = nb::cast<std::string>(t[4]);
                }
                c.set(std::move(made));
            },
            nb::arg("members"));

    hook("print", [](nb::handle print) {
        pardo::set_printer([print = print.inc_ref().ptr()](const std::string& format, std::span<const KernelArgument> values) {
            auto line = std::make_unique<PrintedLine>(PrintedLine{print, format, {values.begin(), values.end()}});
            if (const Printing now; now) {
                const WithGil gil;
                if (gil) {
                    if (!line->print()) throw error_from_python();
                    return;
                }
            }
            call_later(&print_late, new LateLine{std::move(line)});
        });
    });
    m.def(
        "_finish_prints",
        [] {
            const Unlocked unlocked;
            pardo::finish_prints();
        },
        "At exit: lets kernels print that have been submitted.");
    m.def("_hold_prints", &hold_prints, "Before fork(): lets kernels print what they are printing, and later lines after it.");
    m.def(
        "_release_prints", [] { forking = 0; }, "After fork(), in both processes.");

    nb::class_<syntax::Function>(m, "_Function", "A function's syntax as the compiler takes it.")
        .def(
            nb::new_([](std::string name, std::string file, int first_line, std::vector<std::string> lines, std::vector<std::string> params,
                        std::string rest, List defaults, nb::object body, List callees, List classes, bool library, List outside) {
                auto f = std::make_shared<syntax::Function>();
                f->name = std::move(name);
                f->file = std::move(file);
                f->first_line = first_line;
                f->lines = std::move(lines);
                f->params = std::move(params);
                f->rest = std::move(rest);
                for (nb::handle d : defaults) f->defaults.push_back(tree_from(d));
                f->body = tree_from(body);
                for (nb::handle c : callees) f->callees.push_back(nb::cast<FunctionPtr>(c));
                for (nb::handle c : classes) f->classes.emplace_back(nb::cast<ClassPtr>(c));
                for (nb::handle o : outside) f->outside.push_back(nb::cast<std::shared_ptr<syntax::Outside>>(o));
                f->library = library;
                return f;
            }),
            nb::arg("name"), nb::arg("file"), nb::arg("first_line"), nb::arg("lines"), nb::arg("params"), nb::arg("rest"),
            nb::arg("defaults"), nb::arg("body"), nb::arg("callees"), nb::arg("classes"), nb::arg("library"), nb::arg("outside"))
        .def_prop_ro("name", [](const syntax::Function& f) { return f.name; });

    m.def(
        "_returned_by",
        [](const FunctionPtr& function, Tuple arguments, nb::handle queue, const std::string& op_name) {
            const std::vector<KernelArgument> given = kernel_arguments(arguments, op_name.c_str(), function->params);
            const std::vector<KernelArgument> types = pardo::returned_by(function, given, queue_from(queue));
            std::size_t at = 0;
            return value_from(types, at, [](const KernelArgument& a) { return dtype_to_python(a.dtype); });
        },
        nb::arg("function"), nb::arg("arguments"), nb::arg("queue").none(), nb::arg("op_name"),
        "Dtypes of what a function gives: one, a tuple, or a dict by the names of a struct's fields.");

    nb::class_<pardo::NdRange>(m, "_Space", "An index space.")
        .def(
            "__init__",
            [](pardo::NdRange* self, Ints global, Ints local, bool bare) {
                new (self) pardo::NdRange{std::move(global), std::move(local), bare};
            },
            nb::arg("range"), nb::arg("local"), nb::arg("bare") = false);

    nb::class_<pardo::Kernel>(m, "_Kernel", "A function of the user, and its programs.")
        .def(
            "__init__",
            [](pardo::Kernel* self, FunctionPtr function, bool takes_item, std::uint8_t fast_math, int checks, int sub_group_size,
               const std::vector<int>& access) {
                pardo::KernelOptions options{fast_math, static_cast<pardo::Checks>(checks), sub_group_size};
                for (const int use : access) options.access.push_back(static_cast<pardo::ArgumentUse>(use));
                new (self) pardo::Kernel(std::move(function), takes_item, options);
            },
            nb::arg("function"), nb::arg("takes_item"), nb::arg("fast_math"), nb::arg("checks"), nb::arg("sub_group_size"),
            nb::arg("access"))
        .def(
            "launch",
            [](const pardo::Kernel& k, Tuple arguments, const pardo::NdRange& range, nb::handle queue, nb::handle depends,
               const std::string& op_name) { return launch(k, arguments, range, queue, depends, op_name.c_str()); },
            nb::arg("arguments"), nb::arg("range"), nb::arg("queue").none(), nb::arg("depends").none(), nb::arg("op_name"))
        .def(
            "inspect",
            [](const pardo::Kernel& k, Tuple arguments, const pardo::NdRange& range, nb::handle queue, const std::string& what,
               const std::string& op_name) {
                const std::vector<KernelArgument> given = kernel_arguments(arguments, op_name.c_str(), k.parameters());
                return k.inspect(given, range, what, queue_from(queue));
            },
            nb::arg("arguments"), nb::arg("range"), nb::arg("queue").none(), nb::arg("what"), nb::arg("op_name"))
        .def(
            "types",
            [](const pardo::Kernel& k, Tuple arguments, const pardo::NdRange& range, nb::handle queue, const std::string& op_name) {
                const std::vector<KernelArgument> given = kernel_arguments(arguments, op_name.c_str(), k.parameters());
                return k.types(given, range, queue_from(queue));
            },
            nb::arg("arguments"), nb::arg("range"), nb::arg("queue").none(), nb::arg("op_name"))
        .def(
            "inspect_so_far", [](const pardo::Kernel& k, const std::string& what) { return k.inspect(what); }, nb::arg("what"))
        .def("types_so_far", [](const pardo::Kernel& k) { return k.types(); })
        .def("diagnostics", &pardo::Kernel::diagnostics)
        .def(
            "uses",
            [](const pardo::Kernel& k, Tuple arguments, const pardo::NdRange& range, nb::handle queue, const std::string& op_name) {
                std::vector<int> out;
                const std::vector<KernelArgument> given = kernel_arguments(arguments, op_name.c_str(), k.parameters());
                for (const pardo::ArgumentUse u : k.uses(given, range, queue_from(queue))) out.push_back(static_cast<int>(u));
                return out;
            },
            nb::arg("arguments"), nb::arg("range"), nb::arg("queue").none(), nb::arg("op_name"))
        .def_prop_ro("specialisations", &pardo::Kernel::specialisations);

    m.def(
        "_numbers_of", [](nb::handle values, nb::handle out) { return numbers_of(values, out); }, nb::arg("values"), nb::arg("out"),
        "Read a list or tuple of numbers into an array of bool, int64 or float64; False where some are of another type or do not fit.");
    m.def(
        "_taken_memory",
        [](std::int64_t address, std::int64_t bytes) {
            void* memory = reinterpret_cast<void*>(address);
            auto out = nb::steal<nb::bytes>(PyBytes_FromStringAndSize(static_cast<const char*>(memory), memory ? bytes : 0));
            std::free(memory);
            if (!out.is_valid()) nb::raise_python_error();
            return out;
        },
        nb::arg("address"), nb::arg("bytes"), "The bytes of memory that a loop has handed over, which is freed.");

    nb::class_<pardo::Loop>(m, "_Loop", "A part of a function that runs by itself.")
        .def(
            "__init__",
            [](pardo::Loop* self, FunctionPtr function, int dimensions, std::vector<std::string> results, std::uint8_t fast_math,
               int checks, const std::vector<std::tuple<std::string, bool, bool, bool, bool>>& lists, bool library_products,
               bool truncates) {
                std::vector<pardo::ListArgument> given;
                given.reserve(lists.size());
                for (const auto& [name, filled, weak, changes, grows] : lists) given.push_back({name, filled, weak, changes, grows});
                pardo::KernelOptions options{fast_math, static_cast<pardo::Checks>(checks)};
                options.library_products = library_products;
                options.truncates = truncates;
                new (self) pardo::Loop(std::move(function), dimensions, std::move(results), options, given);
            },
            nb::arg("function"), nb::arg("dimensions"), nb::arg("results"), nb::arg("fast_math"), nb::arg("checks"),
            nb::arg("lists") = std::vector<std::tuple<std::string, bool, bool, bool, bool>>(), nb::arg("library_products") = false,
            nb::arg("truncates") = false)
        .def_static(
            "reductions",
            [](const FunctionPtr& function, const std::vector<std::string>& outside) {
                std::vector<std::string> scattered;
                std::vector<std::string> found = pardo::Loop::reductions(*function, outside, &scattered);
                return std::pair(std::move(found), std::move(scattered));
            },
            nb::arg("function"), nb::arg("outside"))
        .def_static(
            "draws", [](const FunctionPtr& function) { return pardo::Loop::draws(*function); }, nb::arg("function"))
        .def(
            "refusal",
            [](const pardo::Loop& loop, Tuple arguments, const std::string& op_name) {
                const std::vector<KernelArgument> given = kernel_arguments(arguments, op_name.c_str(), loop.parameters());
                const Unlocked unlocked;
                return loop.refusal(given);
            },
            nb::arg("arguments"), nb::arg("op_name"))
        .def(
            "uses",
            [](const pardo::Loop& loop, Tuple arguments, const Ints& counts, const std::string& op_name) {
                std::vector<int> out;
                const std::vector<KernelArgument> given = kernel_arguments(arguments, op_name.c_str(), loop.parameters());
                for (const pardo::ArgumentUse u : loop.uses(given, counts)) out.push_back(static_cast<int>(u));
                return out;
            },
            nb::arg("arguments"), nb::arg("counts"), nb::arg("op_name"))
        .def("inspect_so_far", &pardo::Loop::inspect, nb::arg("what"))
        .def("types_so_far", &pardo::Loop::types)
        .def("diagnostics", &pardo::Loop::diagnostics)
        .def(
            "run",
            [](const pardo::Loop& loop, Tuple arguments, const Ints& counts, Tuple initial, nb::handle queue, std::int64_t chunk,
               const std::string& op_name) {
                const std::vector<KernelArgument> given = kernel_arguments(arguments, op_name.c_str(), loop.parameters());
                std::vector<pardo::Scalar> before;
                for (nb::handle o : initial) {
                    const auto scalar = scalar_from(o.ptr());
                    if (!scalar) throw pardo::Error(pardo::ErrorCode::Type, op_name + ": a loop reduces numbers, not " + class_name(o));
                    before.push_back(*scalar);
                }
                const pardo::Queue* on = queue_from(queue);
                std::vector<KernelArgument> results;
                {
                    const Unlocked unlocked;
                    results = loop.run(given, counts, before, on, chunk);
                }
                return values_of(results);
            },
            nb::arg("arguments"), nb::arg("counts"), nb::arg("initial"), nb::arg("queue").none(), nb::arg("chunk"), nb::arg("op_name"));
}

}  // namespace bind
