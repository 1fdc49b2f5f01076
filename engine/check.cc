#include "engine/check.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <utility>

#include "grammar/printable.h"
#include "grammar/suggest.h"

namespace rekey {
namespace {

constexpr size_t kShown = 3;            // keys that a message lists
constexpr size_t kMaxDiagnostics = 20;  // of one `expect` with a loop

std::string Quoted(std::string_view key) { return '`' + Printable(key) + '`'; }

std::string Tensors(uint64_t count) {
  return std::to_string(count) + (count == 1 ? " tensor" : " tensors");
}

class Checker {
 public:
  Checker(const Rewritten& outputs, std::vector<ExpectedValue>* values)
      : outputs_(outputs), values_(values) {
    keys_.reserve(outputs.outputs.size());
    for (const OutputKey& output : outputs.outputs) keys_.push_back(output.key);
  }

  void Check(const Expect& expect) {
    expect_ = &expect;
    begin_ = found_.size();
    switch (expect.kind) {
      case ast::Expect::Kind::kCount:
        CheckCount();
        break;
      case ast::Expect::Kind::kNo:
        CheckNo();
        break;
      case ast::Expect::Kind::kTensor:
        CheckTensors();
        break;
      case ast::Expect::Kind::kError:
        break;
    }
  }

  Diagnostics Take() { return std::move(found_); }

 private:
  void Add(Diagnostic error) {
    if (found_.size() - begin_ >= kMaxDiagnostics) return;
    if (!error.primary.span) error.At(expect_->span);
    found_.push_back(std::move(error));
  }

  Diagnostic Failed(std::string message) { return Error("expect", std::move(message)); }

  void CheckCount() {
    Result<int64_t> count = expect_->count->EvaluateInt({});
    if (!count.ok()) return Add(std::move(count).error());
    const size_t real = outputs_.outputs.size();
    if (*count == static_cast<int64_t>(real)) return;
    Add(Failed("the rules put out " + Tensors(real) + ", not " + std::to_string(*count))
            .Help("`rekey plan` lists them"));
  }

  void CheckNo() {
    std::vector<std::string_view> variables;
    std::vector<std::string_view> bad;
    for (std::string_view key : keys_) {
      if (expect_->pattern->Match(key, &variables)) bad.push_back(key);
    }
    if (bad.empty()) return;
    Diagnostic error = Failed(
        "the rules put out " + Quoted(bad[0]) +
        (bad.size() > 1 ? " and " + std::to_string(bad.size() - 1) + " more that must not be there"
                        : ", which must not be there"));
    for (size_t i = 1; i < bad.size() && i < kShown; ++i) error.Note("also " + Quoted(bad[i]));
    Add(
        std::move(error).Help("drop or rename it, or take the `expect no` back; "
                              "`rekey explain RULES IN KEY` tells where it comes from"));
  }

  void CheckTensors() {
    if (expect_->pattern) {
      std::vector<std::string_view> variables;
      Env env;
      env.variables = &variables;
      bool any = false;
      for (uint32_t i = 0; i < keys_.size(); ++i) {
        if (!expect_->pattern->Match(keys_[i], &variables)) continue;
        any = true;
        CheckType(i, env);
      }
      if (!any) {
        Add(Failed("no output fits " + std::string(expect_->pattern->span.Text()))
                .Help("`rekey plan` lists the outputs"));
      }
      return;
    }
    Status status = ForEachTurn(expect_->loop, keys_, [&](const Env& env) {
      std::string key;
      Status printed = expect_->target->Print(env, &key);
      if (!printed.ok()) {
        Add(std::move(printed).error());
        return false;
      }
      const std::optional<uint32_t> output = Find(key);
      if (!output) {
        AddMissing(key);
      } else {
        CheckType(*output, env);
      }
      return found_.size() - begin_ < kMaxDiagnostics;
    });
    if (!status.ok()) Add(std::move(status).error());
  }

  void AddMissing(const std::string& key) {
    Diagnostic error = Failed("the rules put out no " + Quoted(key));
    for (std::string_view near : Nearest(key, keys_)) {
      error.Note("there is " + Quoted(near));
    }
    for (const DroppedKey& dropped : outputs_.dropped) {
      if (dropped.key != key && dropped.at_key != key) continue;
      error.Note(Quoted(dropped.key) + " is dropped");
      break;
    }
    Add(std::move(error));
  }

  void CheckType(uint32_t output, const Env& env) {
    const TensorType type = outputs_.graph.type(outputs_.outputs[output].tensor);
    const std::string key = Quoted(keys_[output]);
    TensorType wanted = type;
    if (expect_->dtype) wanted.dtype = *expect_->dtype;
    if (expect_->dims) {
      wanted.shape = {};
      for (const Code& dim : *expect_->dims) {
        Result<int64_t> size = dim.EvaluateInt(env);
        if (!size.ok()) return Add(std::move(size).error());
        wanted.shape.push_back(*size);
      }
    }
    if (!(wanted == type)) {
      return Add(Failed(key + " is " + ToString(type) + ", not " +
                        (expect_->dims ? ToString(wanted) : std::string(Name(wanted.dtype)))));
    }
    if (!expect_->value) return;
    if (!values_) {
      return Add(Failed("the value of " + key + " is not known before the run")
                     .Help("put the `expect` into a `test` block, which has tensors of its own"));
    }
    Result<Value> value = expect_->value->Evaluate(env);
    if (!value.ok()) return Add(std::move(value).error());
    values_->push_back({output, std::move(*value), expect_->span});
  }

  std::optional<uint32_t> Find(std::string_view key) {
    if (index_.empty()) {
      index_.reserve(keys_.size());
      for (uint32_t i = 0; i < keys_.size(); ++i) index_.emplace(keys_[i], i);
    }
    const auto found = index_.find(key);
    return found == index_.end() ? std::nullopt : std::optional(found->second);
  }

  const Rewritten& outputs_;
  std::vector<ExpectedValue>* values_;
  std::vector<std::string_view> keys_;
  std::unordered_map<std::string_view, uint32_t> index_;
  const Expect* expect_ = nullptr;
  size_t begin_ = 0;  // of the current expect's messages
  Diagnostics found_;
};

}  // namespace

Status ForEachTurn(const std::optional<Loop>& loop, const std::vector<std::string_view>& keys,
                   const std::function<bool(const Env&)>& body) {
  Env env;
  std::vector<std::string_view> variables;
  env.variables = &variables;
  if (!loop) {
    body(env);
    return {};
  }
  if (loop->pattern) {
    for (std::string_view key : keys) {
      if (loop->pattern->Match(key, &variables) && !body(env)) break;
    }
    return {};
  }
  Result<int64_t> begin = loop->begin->EvaluateInt({});
  if (!begin.ok()) return std::move(begin).error();
  Result<int64_t> end = loop->end->EvaluateInt({});
  if (!end.ok()) return std::move(end).error();
  if (*begin < 0 || (*end > *begin && *end - *begin > kMaxTurns)) {
    return Error("loop-range", "the range " + std::to_string(*begin) + ".." + std::to_string(*end) +
                                   " is below 0 or too long")
        .At(loop->begin->span)
        .Help("count from 0, at most " + std::to_string(kMaxTurns) + " turns");
  }
  for (int64_t i = *begin; i < *end; ++i) {
    const std::string digits = std::to_string(i);
    variables.assign(std::max<size_t>(1, loop->variables.size()), {});
    variables[0] = digits;
    if (!body(env)) break;
  }
  return {};
}

Diagnostics CheckExpects(const std::vector<Expect>& expects, const Rewritten& outputs,
                         std::vector<ExpectedValue>* values) {
  Checker checker(outputs, values);
  for (const Expect& expect : expects) checker.Check(expect);
  return checker.Take();
}

}  // namespace rekey
