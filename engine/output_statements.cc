#include "engine/output_statements.h"

#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "engine/apply_ops.h"
#include "engine/check.h"
#include "engine/key_index.h"
#include "engine/literal.h"
#include "engine/near_miss.h"

namespace rekey {
namespace {

// The tensor that a fill's value describes.
struct Filling {
  Shape shape;
  std::string bytes;
  bool repeat = false;  // `bytes` is one element
};

class FillValue {
 public:
  FillValue(const Fill& fill, const Env& env) : fill_(fill), env_(env) {}

  Result<Filling> Make() {
    for (const Code& code : fill_.value_args) {
      Result<Value> value = code.Evaluate(env_);
      if (!value.ok()) return std::move(value).error();
      args_.push_back(*std::move(value));
    }
    const std::string name = fill_.value.kind == ast::Expr::Kind::kCall ? fill_.value.text : "";
    if (name == "zeros") return Repeated(Value(0), 0);
    if (name == "ones") return Repeated(Value(1), 0);
    if (name == "full") return args_.empty() ? Wrong() : Repeated(args_[0], 1);
    if (name == "arange") return Range();
    if (name == "tril") return Triangle();
    if (args_.size() != 1) return Wrong();
    Result<TensorLiteral> literal = EncodeLiteral(args_[0], fill_.dtype);
    if (!literal.ok()) return std::move(literal).error();
    return Filling{std::move(literal->shape), std::move(literal->bytes), false};
  }

 private:
  Diagnostic Wrong() const {
    return Error("fill-value", "this value makes no tensor")
        .At(fill_.value.span)
        .Help("write zeros(dims), ones(dims), full(v, dims), arange(n), tril(n), or numbers");
  }

  // The sizes in arguments from `first` on: integers, or one list of them.
  Result<Shape> Dims(size_t first) const {
    Shape shape;
    std::vector<Value> sizes(args_.begin() + static_cast<ptrdiff_t>(first), args_.end());
    if (sizes.size() == 1 && sizes[0].list()) sizes = ValueList(*sizes[0].list());
    for (const Value& size : sizes) {
      if (!size.integer() || *size.integer() < 0)
        return Error("fill-value", ToString(size) + " is no size of a dimension")
            .At(fill_.value.span);
      shape.push_back(*size.integer());
    }
    if (shape.size() > kMaxRank || !NumBytes(fill_.dtype, shape))
      return Error("fill-value", "a tensor " + ToString(shape) + " is too large")
          .At(fill_.value.span);
    return shape;
  }

  Result<Filling> Repeated(const Value& value, size_t first) const {
    Result<Shape> shape = Dims(first);
    if (!shape.ok()) return std::move(shape).error();
    Result<std::string> element = EncodeElement(value, fill_.dtype);
    if (!element.ok()) return std::move(element).error();
    return Filling{*std::move(shape), *std::move(element), true};
  }

  // arange and tril are written out; their size is bounded.
  Result<int64_t> Count(int64_t most) const {
    if (args_.size() != 1 || !args_[0].integer()) return Wrong();
    const int64_t n = *args_[0].integer();
    if (n < 0 || n > most)
      return Error("fill-value",
                   std::to_string(n) + " is out of range here: 0 to " + std::to_string(most))
          .At(fill_.value.span);
    return n;
  }

  Result<Filling> Range() const {
    Result<int64_t> n = Count(int64_t{1} << 24);
    if (!n.ok()) return std::move(n).error();
    Filling filling{Shape{*n}, "", false};
    for (int64_t i = 0; i < *n; ++i) {
      Result<std::string> element = EncodeElement(Value(i), fill_.dtype);
      if (!element.ok()) return std::move(element).error();
      filling.bytes += *element;
    }
    return filling;
  }

  Result<Filling> Triangle() const {
    Result<int64_t> n = Count(int64_t{1} << 14);
    if (!n.ok()) return std::move(n).error();
    Result<std::string> zero = EncodeElement(Value(0), fill_.dtype);
    Result<std::string> one = EncodeElement(Value(1), fill_.dtype);
    if (!zero.ok()) return std::move(zero).error();
    if (!one.ok()) return std::move(one).error();
    Filling filling{Shape{*n, *n}, "", false};
    filling.bytes.reserve(static_cast<size_t>(*n * *n) * one->size());
    for (int64_t i = 0; i < *n; ++i)
      for (int64_t j = 0; j < *n; ++j) filling.bytes += j <= i ? *one : *zero;
    return filling;
  }

  const Fill& fill_;
  const Env& env_;
  ValueList args_;
};

class Statements {
 public:
  explicit Statements(Journey* journey) : journey_(journey), index_(Outputs().size()) {
    for (uint32_t i = 0; i < Outputs().size(); ++i) index_.Add(Outputs()[i].key, i);
    type_of_ = [this](std::string_view key) -> const TensorType* {
      const auto at = index_.Find(key);
      if (!at) return nullptr;
      asked_ = journey_->out.graph.type(Outputs()[*at].tensor);
      return &asked_;
    };
    has_ = [this](std::string_view key) { return index_.Find(key).has_value(); };
  }

  void Run() {
    const auto& statements = journey_->program.outputs;
    for (size_t i = 0; i < statements.size(); ++i) {
      number_ = static_cast<int>(i);
      std::visit([this](const auto& statement) { Make(statement); }, statements[i]);
    }
  }

 private:
  std::vector<OutputKey>& Outputs() { return journey_->out.outputs; }

  std::vector<std::string_view> Keys() {
    std::vector<std::string_view> keys;
    keys.reserve(Outputs().size());
    for (const OutputKey& output : Outputs()) keys.push_back(output.key);
    return keys;
  }

  void AddNearest(std::string_view key, Diagnostic* error) {
    for (const std::string& near : KeyFamilies(Keys()).Nearest(key, 1))
      error->Help("the nearest output is " + Quoted(near));
  }

  void Put(std::string key, TensorId tensor, int tied_to, Span span) {
    const std::string_view kept = journey_->out.text->Add(key);
    index_.Add(kept, static_cast<uint32_t>(Outputs().size()));
    OutputKey made;
    made.key = kept;
    made.tensor = tensor;
    made.by = {static_cast<int>(journey_->program.passes.size()) - 1, -1};
    made.claimed = true;
    made.output = number_;
    made.tied_to = tied_to;
    Outputs().push_back(made);
    const bool watched = journey_->IsWatched(tensor) || kept == journey_->options.watch;
    if (journey_->options.events && watched)
      journey_->Record({Event::Kind::kOutput, made.by.pass, span, "", std::move(key), ""});
  }

  bool Collides(const std::string& key, const std::string& what, Span span) {
    const auto there = index_.Find(key);
    if (!there) return false;
    journey_->AddError(
        Error("collision", what + " " + Quoted(key) + ", which is an output already")
            .At(span)
            .Note("it comes from " + journey_->SourceName(Outputs()[*there].tensor)));
    return true;
  }

  void Make(const Copy& copy) {
    const std::vector<std::string_view> keys = Keys();
    std::vector<std::string_view> variables;
    Env env;
    env.variables = &variables;
    env.has = &has_;
    size_t made = 0;
    for (uint32_t i = 0; i < keys.size(); ++i) {
      if (!copy.source.Match(keys[i], &variables)) continue;
      ++made;
      std::string target;
      if (Status printed = copy.target.Print(env, &target); !printed.ok()) {
        journey_->AddError(std::move(printed).error().Note("for " + Quoted(keys[i])));
        continue;
      }
      if (!Collides(target, "the copy of " + Quoted(keys[i]) + " would be named", copy.span))
        Put(std::move(target), Outputs()[i].tensor, -1, copy.span);
    }
    if (made > 0 || copy.maybe || journey_->options.testing) return;
    Diagnostic error = Error("unused-copy", "this `copy` fits no output").At(copy.span);
    for (const std::string& near : KeyFamilies(keys).Nearest(PatternShape(copy.source), 1))
      error.Help("the nearest output is " + Quoted(near));
    journey_->AddError(error.Help("if it may match nothing, write `copy?`"));
  }

  void Make(const Tie& tie) {
    const std::vector<std::string_view> none;
    Env env;
    env.variables = &none;
    env.has = &has_;
    std::string name, of;
    if (Status printed = tie.name.Print(env, &name); !printed.ok())
      return journey_->AddError(std::move(printed).error());
    if (Status printed = tie.of.Print(env, &of); !printed.ok())
      return journey_->AddError(std::move(printed).error());
    const auto there = index_.Find(of);
    if (!there) {
      if (tie.maybe || journey_->options.testing) return;
      Diagnostic error =
          Error("tie-absent",
                Quoted(of) + " is not among the outputs, so nothing can be tied to it")
              .At(tie.of.span);
      AddNearest(of, &error);
      return journey_->AddError(error.Help("if it may be absent, write `tie?`"));
    }
    if (Collides(name, "the tie would be named", tie.span)) return;
    Put(std::move(name), Outputs()[*there].tensor, static_cast<int>(*there), tie.span);
  }

  void Make(const Fill& fill) {
    uint64_t turns = 0;
    Status looped = ForEachTurn(fill.loop, Keys(), [&](const Env& turn) {
      ++turns;
      Env env = turn;
      env.has = &has_;
      env.output = &type_of_;
      FillOne(fill, env);
      return !HasErrors(journey_->out.diagnostics);
    });
    if (!looped.ok()) return journey_->AddError(std::move(looped).error());
    const bool by_keys = fill.loop && fill.loop->pattern;
    if (turns > 0 || !by_keys || fill.maybe || journey_->options.testing) return;
    Diagnostic error =
        Error("unused-fill", "no output fits the pattern of this `fill`").At(fill.span);
    for (const std::string& near :
         KeyFamilies(Keys()).Nearest(PatternShape(*fill.loop->pattern), 1))
      error.Help("the nearest output is " + Quoted(near));
    journey_->AddError(error.Help("if it may match nothing, write `fill?`"));
  }

  void FillOne(const Fill& fill, const Env& env) {
    std::string key;
    if (Status printed = fill.target.Print(env, &key); !printed.ok())
      return journey_->AddError(std::move(printed).error());
    if (index_.Find(key)) return;  // a default, not a value that overwrites
    Result<Filling> filling = FillValue(fill, env).Make();
    if (!filling.ok()) {
      Diagnostic error = std::move(filling).error();
      if (!error.primary.span) error.At(fill.value.span);
      return journey_->AddError(error.Note("for " + Quoted(key)));
    }
    TensorGraph& graph = journey_->out.graph;
    const TensorId constant = graph.AddConstant(
        {fill.dtype, filling->shape}, std::move(filling->bytes), filling->repeat, fill.span);
    Result<TensorId> tensor = ApplyEach(&graph, fill.ops, 0, fill.ops.size(), constant, env);
    if (!tensor.ok())
      return journey_->AddError(std::move(tensor).error().Note("for " + Quoted(key)));
    Put(std::move(key), *tensor, -1, fill.span);
  }

  Journey* journey_;
  KeyIndex index_;  // of the outputs
  int number_ = 0;
  TensorType asked_;
  std::function<const TensorType*(std::string_view)> type_of_;
  std::function<bool(std::string_view)> has_;
};

}  // namespace

void RunOutputStatements(Journey* journey) { Statements(journey).Run(); }

}  // namespace rekey
