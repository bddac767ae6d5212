// AST -> typed IR: the program read with types in place of values.
//
// A statement becomes one Function whose parameters are the globals it reads. Calls of the program's functions are
// expanded where they stand; jit and recursion make functions of their own (op `call`). The class is one walk over the
// tree; its methods are grouped by file: expressions.cpp, operators.cpp, indexing.cpp, control.cpp, functions.cpp,
// transforms.cpp, and builtins_*.cpp for what the library's names mean.
#pragma once
#include <map>
#include <set>
#include <utility>

#include "base/diagnostic.h"
#include "interpreter/elaborate/builtin.h"
#include "interpreter/elaborate/frame.h"
#include "interpreter/elaborate/jit_sizes.h"
#include "interpreter/ir/jit_entry.h"
#include "interpreter/ir/recursion.h"

namespace tercet {

/// A call of a compiled function as it was elaborated, and the globals it read with their versions.
struct JitMemo {
  std::vector<std::pair<std::string, uint64_t>> read;
  std::shared_ptr<JitEntry> entry;
  Sym result;
  std::vector<Leaf> leaves;                                         // of the result
  std::vector<Frame::Hidden> hidden;
  std::vector<Sym> kept;                                            // the function and its arguments: keys have addresses of their code
};

/// What the elaborator may ask of the session around it.
class Environment {
 public:
  virtual ~Environment() = default;
  // Globals by their qualified names (tree.h).
  virtual const Value* global(const std::string& name) = 0;
  virtual bool is_var(const std::string& name) = 0;
  /// What a file may call: its own globals and the library, as it writes them.
  virtual std::vector<std::string> global_names(const std::string& home) = 0;
  /// The place where a later statement of the program that runs binds this global, if one does.
  virtual std::optional<Place> bound_later(const std::string& name) = 0;
  /// A definition of stdlib/, or null.
  virtual ast::FunctionPtr library_function(const std::string& name) = 0;
  /// Compiled entries by key; they live as long as the session.
  virtual std::map<std::string, std::shared_ptr<JitEntry>>& jit_entries() = 0;
  virtual std::map<std::string, std::shared_ptr<JitCounter>>& jit_counters() = 0;
  /// Another number whenever this global has been bound anew; 0 while it is not there.
  virtual uint64_t version(const std::string& name) = 0;
  virtual std::map<std::string, JitMemo>& jit_memos() = 0;
  virtual const std::vector<std::string>& arguments() = 0;          // of the program
  virtual bool may_read_files() = 0;
  /// May elaboration use the values of this global's integers? False: only their types.
  virtual bool value_known(const std::string& name) = 0;
  virtual int device_count() = 0;                                   // of pmap; 0: as many as one asks for
};

/// A statement ready to run.
struct Elaborated {
  FunctionPtr function;
  std::vector<Frame::Hidden> inputs;                                // the function's parameters
  struct Bound { std::string name; Sym value; bool is_var; };
  std::vector<Bound> bindings;                                      // names to bind; leaves are results, in order
  std::optional<Sym> value;                                         // of an expression statement
  std::vector<Leaf> result_leaves;                                  // leaves of bindings, then of value
};

/// A function that calls itself, while it is elaborated and when it runs.
struct RecursiveCell : RecursiveCallee, std::enable_shared_from_this<RecursiveCell> {
  std::optional<Sym> result;         // structure and types of its value, once known
  std::vector<Type> types;
  std::vector<bool> weak;
  std::vector<Frame::Hidden> hidden; // globals it reads
};

/// Thrown where elaboration needs the value of a parameter of the function that is being compiled.
struct StaticNeeded { size_t parameter; std::string message; Span span; };
/// Throws it when x is such a parameter.
void require_static(const Leaf& x, const std::string& message, Span span);

/// An axis of the vmaps and pmaps around a place. Its level, for attr "over", is its index among them.
struct MappedAxis {
  std::string name;    // option axis=, may be empty
  Dim size;
  Frame* frame;        // of the function of one lane or device
  bool devices;        // of a pmap
};

/// Steps beyond it mean the same: no array has so many elements.
inline constexpr int64_t longest_step = int64_t{1} << 48;

struct CallArgument { std::string name; Sym value; Span span; };    // name "": positional

class Elaborator {
 public:
  /// `home`: the file whose statements these are (tree.h).
  explicit Elaborator(Environment& environment, std::string home = {}) : environment_(environment), home_(std::move(home)) {}
  Elaborated statement(const ast::Stmt& statement);
  /// The function that an expression names, for arguments of these types, as `jit` would compile it.
  FunctionPtr function(const ast::Expr& expression, std::span<const Tree<Type>> arguments);

  // ---- used by lowerings (builtins) ----
  Frame& frame() { return *frame_; }
  Frame* swap_frame(Frame* frame) { return std::exchange(frame_, frame); }
  Builder& builder() { return frame_->builder(); }
  Environment& environment() { return environment_; }
  ValueId use(const Leaf& leaf, std::optional<DType> as = std::nullopt) { return frame_->use(leaf, as, span_); }
  Leaf emit(const OpDef& op, std::vector<ValueId> inputs, Attrs attrs = {}, bool weak = false);
  std::vector<Leaf> emit_many(const OpDef& op, std::vector<ValueId> inputs, Attrs attrs = {});
  Span span() const { return span_; }
  /// The text that explains the call function(arguments), compiled.
  Sym explain(const Sym& function, std::span<const Sym> arguments);
  /// Error `compile` when a function is being compiled: `what` happens outside.
  void refuse_in_compiled(const char* what) const {
    if (inside_jit_) error(Kind::Compile, std::string("`") + what + "` cannot be compiled", "do it outside, and pass what it gives");
  }
  [[noreturn]] void error(Kind kind, std::string message, std::string help = {}, std::string label = {}) const;

  /// The array behind a value; a range or an array-like becomes one. Error `type` names `what` otherwise.
  Leaf array(const Sym& value, const char* what);
  int64_t static_int(const Sym& value, const char* what);           // known while elaborating, else an error
  bool static_bool(const Sym& value, const char* what);
  std::string static_string(const Sym& value, const char* what);
  std::optional<std::string> known_string(const Leaf& x) const;     // the text of a string constant
  Dim size(const Sym& value, const char* what);
  std::vector<Dim> shape(const Sym& value, const char* what);       // a size, or a tuple or array literal of sizes
  int64_t axis(const Sym& value, int rank, const char* what);       // normalised, checked
  std::vector<int64_t> axes(const Sym& value, int rank);            // none: all; sorted

  Leaf cast(const Leaf& x, DType dtype, bool weak = false);
  Leaf binary(ast::BinaryOp op, const Leaf& a, const Leaf& b);
  Leaf elementwise(const OpDef& op, std::span<const Leaf> arguments, Promotion promotion);
  Leaf broadcast_to(const Leaf& x, const std::vector<Dim>& dims);   // sizes are known to fit
  std::vector<Dim> common_dims(std::span<const Leaf> arguments);    // with checks where they are needed
  Leaf full(const std::vector<Dim>& dims, const Leaf& value, DType dtype);
  Leaf iota(const Dim& size, DType dtype);
  Leaf strided(const Leaf& start, const Leaf& span, const Leaf& step, DType dtype, const char* what);   // upwards; the step is checked when it runs
  Leaf reshape(const Leaf& x, const std::vector<Dim>& dims);
  Leaf transpose(const Leaf& x, const std::vector<int64_t>& perm);
  Leaf move_axis(const Leaf& x, int64_t from, int64_t to);
  Leaf select(const Leaf& mask, const Leaf& a, const Leaf& b);
  Leaf stack(std::span<const Leaf> parts);                          // equal dtype; new axis 0
  Leaf concat(std::span<const Leaf> parts, int64_t axis);
  Leaf gather_rows(const Leaf& x, const Leaf& index, int64_t axis); // unchecked
  Leaf checked_index(const Leaf& index, const Dim& size, int64_t axis);
  Leaf nonzero(const Leaf& mask);
  Leaf matmul(const Leaf& a, const Leaf& b);
  Sym slice_rows(const Leaf& x, const Dim& start, const Dim& size);
  /// Are two sizes equal, as far as elaboration decides it? Types may hang on the answer (not so where it can be checked
  /// when it runs: require_equal).
  bool same_size(const Dim& a, const Dim& b) const;
  /// False inside branches and loops, which may never be reached: sizes that do not fit are an error there when it happens.
  bool certain() const { return uncertain_ == 0; }
  void require_equal(const Dim& a, const Dim& b, const std::string& message, const std::string& help = {});
  void emit_effect(const OpDef& op, std::vector<ValueId> inputs, Attrs attrs);
  void print(std::span<const Sym> values, bool newline = true);
  std::string print_template(const Sym& value, bool top, std::vector<ValueId>& operands);
  Leaf dtype_joined(std::span<const Leaf> leaves, std::vector<Leaf>& converted);
  Leaf array_literal(const std::vector<Sym>& elements);
  Sym columns_or_array(const std::vector<Sym>& elements);
  bool ragged_literal(std::span<const Leaf> parts, Leaf& out);

  Sym apply(const Sym& function, std::vector<CallArgument> arguments, Span span);
  std::vector<std::string> parameter_names(const Sym& function);
  /// vmap of a C++ body over leading axes: used by map, comprehensions, scan.
  /// `axis`: collectives may name these lanes.
  /// `equal_rows`: rows of different length among them are known to go together, row by row.
  Sym map_lanes(const std::string& name, const Dim& lanes, std::span<const Leaf> mapped,
                const std::function<Sym(std::span<const Leaf>)>& body, bool equal_rows = false, const std::string* axis = nullptr);
  /// The rows of all `leaves` that map along axis 0 (ragged ones, and what has an axis beside that), the others as they
  /// are, through `body`. Row lengths of ragged ones must be equal, which is checked.
  Sym rows_together(std::span<const Leaf> leaves, const std::function<Sym(std::span<const Leaf>)>& body);
  /// A library function of whole rows of different length, as language.md says: nullopt where it is not one.
  std::optional<Sym> call_on_rows(const Sym& function, std::vector<CallArgument>& arguments, Span span);
  Leaf concat_ragged(std::span<const Leaf> parts);                  // along axis 0
  Sym scan(const Sym& function, const Sym& init, const Sym& xs);
  Sym scan_rows(const Sym& rows, const std::function<Sym(const Sym&)>& f);
  Sym fold_rows(const Sym& rows, const Sym& init, const std::function<Sym(const Sym& carry, const Sym& row)>& f);
  /// (f(xs…), the function from a cotangent of the value to cotangents of the xs).
  Sym vjp(const Sym& function, std::span<const Sym> xs);
  /// (f(xs…), its change along the tangents ts).
  Sym jvp(const Sym& function, std::span<const Sym> xs, std::span<const Sym> ts);
  std::shared_ptr<JitCounter> jit_counter(const Sym& function);
  /// The level of the innermost axis around this place, or of the one with that name. Error `name` when there is none;
  /// `what` is the function that asks.
  int64_t axis_level(const std::optional<Sym>& name, const char* what);
  /// Its number of lanes or devices, as a size of this place.
  Dim axis_size(int64_t level, const char* what);
  std::string identity(const Sym& function) const;

 private:
  void start();
  friend class SpanScope;
  friend class UncertainScope;
  struct Binding { Sym value; bool is_var = false; bool captured = false; Span span; };
  /// The locals of one call (or of the statement): blocks inside it nest.
  struct Scope { std::map<std::string, Binding> names; };
  struct Context {                                   // one call of a function of the program
    std::vector<Scope> scopes;
    std::string home;                                // whose globals it sees
    bool top_level = false;
    int loop_depth = 0;
    size_t comprehension = 0;                        // scopes outside of the innermost comprehension, whose elements change nothing there
    std::vector<Sym::Captured> captured;   // of the closure
  };
  struct Active { const ast::FunctionDef* code; std::string signature; std::shared_ptr<struct RecursiveCell> cell; };
  struct RecursionFound { size_t depth; };
  struct Bottom {};                                  // the value of a call that does not return on this path

  // expressions.cpp
  Sym expr(const ast::Expr& e);
  Sym expr(const ast::ExprPtr& e) { return expr(*e); }
  Sym eval(const ast::Expr& e);
  Sym name(const ast::Name& n, Span span);
  Sym f_string(const ast::FString& f);
  Sym comprehension(const ast::Comprehension& c);
  Sym member(const ast::Member& m);
  Sym call(const ast::Call& c, Span span, const Sym* piped = nullptr);
  Sym pipe(const ast::Pipe& p);
  Sym transform(const ast::Transform& t);
  bool fast_math(const std::string& math) const;
  Sym lambda(const ast::FunctionPtr& f);
  Binding* find_local(const std::string& name);
  bool is_inside_comprehension(const std::string& name) const;
  const Sym* find_captured(const std::string& name);
  std::optional<Sym> global(const std::string& name) { return global(contexts_.back().home, name); }
  std::optional<Sym> global(const std::string& home, const std::string& name);
  std::string here(const std::string& name) const { return qualified(contexts_.back().home, name); }
  Sym module_member(const Sym::Module& module, const std::string& name, Span span);
  Sym import_value(const std::string& name, const Value& value);
  [[noreturn]] void unknown_name(const std::string& name, Span span);

  // operators.cpp
  Sym chain(const ast::Chain& c);
  Sym binary_tree(ast::BinaryOp op, const Sym& a, const Sym& b);
  Sym unary(const ast::Unary& u);
  Sym logic(ast::BinaryOp op, const Sym& left, const ast::Expr& right);
  Leaf power(const Leaf& a, const Leaf& b);
  Leaf row_by_row(const OpDef& op, std::span<const Leaf> arguments, Promotion promotion);
  Leaf truth(const Sym& value, const char* what);

  // indexing.cpp
  struct IndexPart;
  struct Advanced;
  Dim slice_bound(const ast::ExprPtr& e, const Dim& n, const Dim& absent, int64_t low);
  IndexPart slice_part(const ast::IndexItem& item, const Dim& n, int64_t axis);
  IndexPart strided_part(const ast::IndexItem& item, const Dim& n, int64_t axis, const Leaf& step);
  Leaf read_basic(Leaf x, const std::vector<IndexPart>& parts);
  Leaf write_basic(const Leaf& x, Leaf v, const std::vector<IndexPart>& parts);
  Advanced advanced(const std::vector<IndexPart>& parts);
  void write_in_place(std::vector<IndexPart>& parts);
  void mask_parts(std::vector<IndexPart>& parts, const Leaf& x, const Leaf& mask, int64_t axis);
  std::vector<IndexPart> index_parts(const Leaf& x, const std::vector<ast::IndexItem>& items, const Sym* only = nullptr);
  Leaf read_parts(const Leaf& x, const std::vector<IndexPart>& parts);
  Leaf gather_at(const Leaf& x, const Advanced& index);
  Leaf scatter_at(const Leaf& x, const Leaf& v, const Advanced& index, const std::string& mode);
  Leaf write_parts(const Leaf& whole, const std::vector<IndexPart>& parts, Leaf v, std::optional<ast::BinaryOp> op);
  Sym index(const ast::Index& e);
  Sym tuple_slice(const Sym::Tuple& t, const ast::IndexItem& item);
  Leaf read_masked(const Leaf& x, const Leaf& mask);
  Leaf write_rows(const Leaf& x, const std::vector<ast::IndexItem>& items, const Leaf& value, std::optional<ast::BinaryOp> op);
  Leaf read_rows(const Leaf& x, const std::vector<ast::IndexItem>& items);
  Leaf read_at_rows(const Leaf& x, const Leaf& index);
  Leaf read_index(const Leaf& x, const std::vector<ast::IndexItem>& items);
  Leaf write_index(const Leaf& x, const std::vector<ast::IndexItem>& items, const Leaf& value, std::optional<ast::BinaryOp> op);
  Sym assigned(const Sym& old, std::span<const ast::Expr* const> path, const ast::Assign& a);

  // control.cpp and loops.cpp
  /// A loop before its types are settled. Its carried values are the locals `names`.
  struct Loop {
    std::vector<std::string> names;
    std::optional<Dim> length;                           // a scan over 0 .. length - 1, else a while
    std::vector<Leaf> consumed;                          // scan: arrays read row by row
    std::function<Leaf()> condition;                     // while
    /// One step; what it returns is stacked (scan only), anything that is no array is not.
    std::function<Sym(const Leaf& index, std::span<const Leaf> rows)> body;
    Sym stacked;                                         // the step's values with one more axis in front
  };
  /// A scan over the rows of all arrays of a tree; the body gets the tree of one row.
  Sym loop_over_rows(Loop& loop, const Sym& rows, const std::function<Sym(const Sym&)>& step);
  Sym block(const ast::Expr& e, bool needed);
  Sym statements(std::span<const ast::StmtPtr> list, bool needed);
  Sym execute(const ast::Stmt& s, bool needed);
  void require_value(const Sym& last, const Sym& returned);
  void finish_function(const Leaf& early, const std::function<Sym()>& rest, std::set<std::string> names);
  void let(const ast::Let& s);
  void assign(const ast::Assign& s);
  void for_loop(const ast::For& s);
  void stream_loop(const Sym::Record& stream, const ast::For& s);
  void while_loop(const ast::While& s);
  struct LoopStep;
  void run_loop(Loop& loop);
  void elaborate_step(const Loop& loop, const std::vector<Sym>& carried, LoopStep& step);
  void emit_loop(Loop& loop, const std::vector<Sym>& initial, const std::vector<Sym>& carried, const std::vector<Dim>& varying, LoopStep& step);
  void counted_loop(const Leaf& low, const Leaf& high, const ast::For& s, const std::function<Sym(const Leaf&)>& element);
  void bind(const ast::Pattern& pattern, const Sym& value, bool is_var);
  Sym if_expression(const ast::If& n, bool needed);
  /// Both branches in frames of their own, joined by `cond`; `assigned` are locals that may change in them.
  Sym conditional(const Leaf& condition, const std::function<Sym()>& yes, const std::function<Sym()>& no,
                  const std::vector<std::string>& assigned);
  Sym stand_in(const Sym& value);
  Sym branches(const Leaf& condition, const std::function<Sym()>& yes, const std::function<Sym()>& no,
               const std::vector<std::string>& assigned);
  /// Where elaboration stands, so that a trial can be undone.
  struct Marks {
    Frame* frame;
    size_t contexts, scopes, active;
    std::vector<Sym> values;
  };
  Marks mark(const std::vector<std::string>& names);
  void restore(const Marks& marks, const std::vector<std::string>& names);
  std::vector<std::string> assigned_locals(const std::set<std::string>& names);
  Sym local(const std::string& name);
  void set_local(const std::string& name, const Sym& value);
  void declare(const std::string& name, const Sym& value);
  /// The flags of early exits that may be set here: true, false, or only known when run.
  Leaf left_early();
  void nothing_left_early();          // in a branch or step that is only reached then

  // functions.cpp
  Sym call_closure(const Sym::Closure& f, std::vector<CallArgument> arguments, Span span);
  Sym run_closure(const Sym::Closure& f, std::vector<Sym>& values, Span span);
  Sym outlined(const Sym::Closure& f, const std::string& key, std::vector<Sym>& values, Span span);
  Sym recursive_call(RecursiveCell& cell, const Sym::Closure& f, std::vector<Sym>& values);
  Sym emit_call(FunctionPtr function, RecursiveCell& cell, std::shared_ptr<RecursiveCell> shared, std::vector<Sym>& values,
                const Sym::Closure* f);
  Leaf hidden_leaf(const Frame::Hidden& h);
  std::vector<Sym> bind_arguments(const Sym::Closure& f, std::vector<CallArgument>& arguments, Span span);
  void check_parameter(const ast::Param& p, Sym& value, std::map<std::string, Dim>& sizes, const ast::FunctionDef& f);
  Sym call_host(const Handle& handle, std::vector<CallArgument> arguments, Span span);
  Sym call_builtin(const BuiltinDef& def, std::vector<CallArgument> arguments, Span span);

  // transforms.cpp
  std::vector<struct BatchedValue> lanes_one_by_one(const Function& f, std::span<const struct BatchedValue> arguments, const Dim& lanes, int64_t level);
  TransformSpec read_spec(const ast::Transform& t);
  bool read_device_option(const ast::Argument& a, TransformSpec& out);
  Sym apply_transformed(const Sym::Transformed& t, std::vector<CallArgument> arguments, Span span);
  /// An array of a call with the axis it is mapped along; nullopt is shared.
  struct LaneLeaf { Leaf leaf; std::optional<int64_t> axis; std::string title; };
  class LaneReader;
  std::vector<LaneLeaf> read_lanes(const Sym::Transformed& t, std::vector<CallArgument>& arguments);
  Dim lane_count(const std::vector<LaneLeaf>& leaves, const TransformSpec& spec);
  Sym apply_vmap(const Sym::Transformed& t, std::vector<CallArgument> arguments, Span span);
  Sym apply_pmap(const Sym::Transformed& t, std::vector<CallArgument> arguments, Span span);
  struct Devices;
  Devices devices_of(const TransformSpec& spec, const std::vector<LaneLeaf>& leaves);
  int64_t out_axis(const Leaf& x, int64_t out, int rank) const;
  Sym reduce_over_devices(const Sym& result, const std::string& how, const std::optional<Dim>& share);
  Sym apply_jit(const Sym::Transformed& t, std::vector<CallArgument> arguments, Span span);
  /// The compiled function that a call of `t` needs, and the operands for it.
  struct JitCall { std::shared_ptr<JitEntry> entry; std::vector<ValueId> inputs; Sym result; std::vector<Leaf> leaves; };
  JitCall elaborate_jit(const Sym::Transformed& t, std::vector<CallArgument> arguments, Span span);
  JitCall jit_call(const Sym::Transformed& t, const FunctionPtr& f, const Frame& body, std::span<const Leaf> given, const std::vector<bool>& fixed);
  // jit_memo.cpp
  std::optional<std::string> memo_key(const Sym::Transformed& t, std::span<const CallArgument> arguments, std::span<const Leaf> given) const;
  std::optional<JitCall> remembered(const std::string& key, std::span<const Leaf> given);
  void remember(const std::string& key, JitMemo memo);

  // gradients.cpp
  struct ClosedCall;
  struct WantedLeaves;
  WantedLeaves wanted_leaves(const Sym::Transformed& t, const std::vector<CallArgument>& arguments);
  ClosedCall close_call(const Sym& function, const std::vector<CallArgument>& arguments, const std::vector<bool>& inside);
  Sym apply_derivative(const Sym::Transformed& t, std::vector<CallArgument> arguments);
  Sym apply_gradient(const Sym::Transformed& t, const std::vector<CallArgument>& arguments);
  Sym apply_jacobian(const Sym::Transformed& t, const std::vector<CallArgument>& arguments);
  Sym apply_pullback(const Sym::Transformed& t, const std::vector<CallArgument>& arguments);
  Sym apply_checkpoint(const Sym::Transformed& t, const std::vector<CallArgument>& arguments);
  Sym apply_custom(const Sym::Transformed& t, const std::vector<CallArgument>& arguments);
  Sym jacobian_rows(const Function& pullback, std::span<const Leaf> inputs, std::span<const Type> results, size_t which, const Sym& like);
  std::vector<ValueId> with_saved(const Function& f, std::span<const ValueId> saved, std::span<const ValueId> arguments);
  std::vector<ValueId> emit_body(const OpDef& op, std::vector<ValueId> inputs, Attrs attrs, std::vector<FunctionPtr> bodies);
  std::vector<CallArgument> positional_arguments(const Sym& function, const std::vector<CallArgument>& arguments);
  Sym tree_of(const Sym& like, std::span<const ValueId> ids, size_t& at);

  Environment& environment_;
  const std::string home_;               // of the statement
  Frame* frame_ = nullptr;
  std::vector<Context> contexts_;
  std::vector<Active> active_;
  Span span_;
  int uncertain_ = 0;                 // branches and loop bodies around the place that is read
  std::vector<MappedAxis> axes_;      // outermost first
  bool inside_jit_ = false;
  Frame* jit_frame_ = nullptr;        // of the function that jit elaborates
  JitSizes* jit_sizes_ = nullptr;     // its parameters' sizes
  std::set<std::string> jit_read_;    // globals that it reads, or looked for
  bool needed_ = true;                // is the value of the expression that is read next used?
  std::set<std::string> written_;     // globals that the statement binds or assigns
};

/// Sets the span that emitted operations and errors get, for the duration of a scope. In stdlib/ it stays the caller's:
/// a place there says nothing to them.
class SpanScope {
 public:
  SpanScope(Elaborator& e, Span span) : e_(e), previous_(e.span_) {
    bool library = !e.contexts_.empty() && e.contexts_.back().home == library_home;
    if (span.known() && !(library && previous_.known())) e.span_ = span;
  }
  ~SpanScope() { e_.span_ = previous_; }
  SpanScope(const SpanScope&) = delete;

 private:
  Elaborator& e_;
  Span previous_;
};

/// An axis that collectives may name, for the duration of a scope.
class AxisScope {
 public:
  AxisScope(std::vector<MappedAxis>& axes, MappedAxis axis) : axes_(axes) { axes_.push_back(std::move(axis)); }
  ~AxisScope() { axes_.pop_back(); }
  AxisScope(const AxisScope&) = delete;

 private:
  std::vector<MappedAxis>& axes_;
};

/// Marks what is elaborated during a scope as code that may never be reached.
class UncertainScope {
 public:
  explicit UncertainScope(Elaborator& e) : e_(e) { ++e_.uncertain_; }
  ~UncertainScope() { --e_.uncertain_; }
  UncertainScope(const UncertainScope&) = delete;

 private:
  Elaborator& e_;
};

/// "f32[3, 128]", "tuple", "function", …: what a value is, for messages.
std::string describe(const Sym& value);
std::string describe(const Leaf& leaf);
std::string text_of(const AxisSpec& spec);   // as written: "0", "_", "(0,_)"

}  // namespace tercet
