#include "engine/selftest.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <map>
#include <optional>
#include <unordered_set>

#include "engine/check.h"
#include "engine/execute.h"
#include "engine/file.h"
#include "engine/formats/format.h"
#include "engine/literal.h"
#include "engine/names_only.h"
#include "engine/plan.h"
#include "engine/work.h"
#include "grammar/format.h"
#include "grammar/printable.h"

namespace rekey {
namespace {

std::string Quoted(std::string_view key) { return '`' + Printable(key) + '`'; }

// --- The tree of one test ------------------------------------------------------------------------

// The rule file with the lines of one test as its only `expect` statements: `given` and arrow lines
// have the same parts, so the compiler resolves them without knowing tests. They come last and in
// this order: givens, expects, the keys of arrows, the targets of arrows.
struct TestTree {
  std::shared_ptr<const ast::File> file;
  std::vector<std::pair<std::string, ast::Expr>> with;
  std::vector<const ast::TestLine*> givens, expects, arrows, arrow_targets;
  const ast::Expect* error = nullptr;  // expect error
  Span error_span;

  size_t size() const {
    return givens.size() + expects.size() + arrows.size() + arrow_targets.size();
  }
};

ast::Statement AsExpect(Span span, ast::Target target) {
  ast::Expect expect;
  expect.target = std::move(target);
  return {span, std::move(expect)};
}

TestTree BuildTree(const ast::File& file, const ast::Test& test) {
  TestTree tree;
  for (const ast::TestLine& line : test.lines) {
    if (const auto* with = std::get_if<ast::With>(&line.node)) {
      tree.with.emplace_back(with->name, with->value);
    } else if (std::holds_alternative<ast::Given>(line.node)) {
      tree.givens.push_back(&line);
    } else if (const auto* expect = std::get_if<ast::Expect>(&line.node)) {
      if (expect->kind == ast::Expect::Kind::kError) {
        tree.error = expect;
        tree.error_span = line.span;
      } else {
        tree.expects.push_back(&line);
      }
    } else if (const auto* arrow = std::get_if<ast::Arrow>(&line.node)) {
      tree.arrows.push_back(&line);
      if (arrow->target) tree.arrow_targets.push_back(&line);
    }
  }
  auto copy = std::make_shared<ast::File>();
  copy->source = file.source;
  for (const ast::Statement& statement : file.statements) {
    const bool left_out = std::holds_alternative<ast::Expect>(statement.node) ||
                          std::holds_alternative<ast::Test>(statement.node);
    if (!left_out) copy->statements.push_back(statement);
  }
  for (const ast::TestLine* line : tree.givens) {
    const ast::Given& given = std::get<ast::Given>(line->node);
    ast::Expect expect;
    expect.target = given.target;
    expect.type = given.type;
    expect.value = given.value;
    expect.loop = given.loop;
    copy->statements.push_back({line->span, std::move(expect)});
  }
  for (const ast::TestLine* line : tree.expects) {
    copy->statements.push_back({line->span, std::get<ast::Expect>(line->node)});
  }
  for (const ast::TestLine* line : tree.arrows) {
    copy->statements.push_back(AsExpect(line->span, std::get<ast::Arrow>(line->node).key));
  }
  for (const ast::TestLine* line : tree.arrow_targets) {
    copy->statements.push_back(AsExpect(line->span, *std::get<ast::Arrow>(line->node).target));
  }
  tree.file = std::move(copy);
  return tree;
}

// --- Given tensors -------------------------------------------------------------------------------

struct Given {
  std::string key;
  TensorType type;
  std::string bytes;  // empty: zeros
};

Result<Given> EvaluateGiven(const Expect& line, const Env& env) {
  Given given;
  Status printed = line.target->Print(env, &given.key);
  if (!printed.ok()) return std::move(printed).error();
  given.type.dtype = line.dtype.value_or(DType::kF32);
  if (line.dims) {
    for (const Code& dim : *line.dims) {
      Result<int64_t> size = dim.EvaluateInt(env);
      if (!size.ok()) return std::move(size).error();
      given.type.shape.push_back(*size);
    }
  }
  if (line.value) {
    Result<Value> value = line.value->Evaluate(env);
    if (!value.ok()) return std::move(value).error();
    Result<TensorLiteral> literal = EncodeLiteral(*value, given.type.dtype);
    if (!literal.ok()) return std::move(literal).error();
    if (line.dims && !(literal->shape == given.type.shape)) {
      return Error("given-shape", "the value of " + Quoted(given.key) + " has the shape " +
                                      ToString(literal->shape) + ", not " +
                                      ToString(given.type.shape))
          .Help("leave the shape out: it is that of the value");
    }
    given.type.shape = literal->shape;
    given.bytes = std::move(literal->bytes);
  }
  if (!NumBytes(given.type.dtype, given.type.shape)) {
    return Error("given-shape", Quoted(given.key) + " cannot be " + ToString(given.type))
        .Help("write sizes from 0 up whose product fits in memory");
  }
  return given;
}

// A folder that goes away with its contents.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::error_code ignored;
    std::string path = std::filesystem::temp_directory_path(ignored) / "rekey-test-XXXXXX";
    if (mkdtemp(path.data())) path_ = path;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  // "" when it could not be made.
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

Diagnostic CannotWrite(const std::string& path) {
  return Error("cannot-write", "cannot write `" + path + "`: " + std::strerror(errno))
      .Help("make room there, or set TMPDIR to a folder that can be written");
}

// Zeros are not written: the file has holes, so that large shapes cost nothing.
Status WriteGivens(const std::vector<Given>& givens, const std::string& path) {
  OutputDescription description;
  for (uint32_t i = 0; i < givens.size(); ++i) {
    OutputTensor tensor;
    tensor.key = givens[i].key;
    tensor.dtype = givens[i].type.dtype;
    tensor.shape = givens[i].type.shape;
    tensor.bytes = static_cast<uint64_t>(*NumBytes(tensor.dtype, tensor.shape));
    tensor.same_as = i;
    description.tensors.push_back(std::move(tensor));
  }
  const auto writer = std::find_if(Writers().begin(), Writers().end(), [](const Writer& w) {
    return std::string_view(w.name) == "safetensors";
  });
  Result<FileLayout> layout = writer->lay_out(description);
  if (!layout.ok()) return std::move(layout).error();
  const int fd = open(path.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
  if (fd < 0) return CannotWrite(path);
  Status status;
  if (ftruncate(fd, static_cast<off_t>(layout->size)) != 0) status = CannotWrite(path);
  for (const Literal& literal : layout->literals) {
    if (!status.ok()) break;
    status = WriteAt(fd, literal.offset, literal.bytes.data(), literal.bytes.size());
  }
  for (size_t i = 0; i < givens.size() && status.ok(); ++i) {
    const std::string& bytes = givens[i].bytes;
    status = WriteAt(fd, layout->offsets[i], bytes.data(), bytes.size());
  }
  close(fd);
  return status;
}

// --- Coverage ------------------------------------------------------------------------------------

class Coverage {
 public:
  explicit Coverage(const Program& program) : program_(program) {
    for (const Pass& pass : program.passes) {
      rules_.emplace_back(pass.rules.size(), false);
      edits_.emplace_back(pass.edits.size(), false);
    }
  }

  // `rules` maps the rules of a reduced program back; null: they are the program's own.
  void Add(const Rewritten& rewritten, const std::vector<std::vector<int>>* rules) {
    for (size_t p = 0; p < rules_.size() && p < rewritten.rules.size(); ++p) {
      for (size_t r = 0; r < rewritten.rules[p].size(); ++r) {
        const size_t own = rules ? static_cast<size_t>((*rules)[p][r]) : r;
        if (rewritten.rules[p][r].claimed > 0) rules_[p][own] = true;
      }
    }
    for (size_t p = 0; p < edits_.size() && p < rewritten.edits.size(); ++p) {
      for (size_t e = 0; e < rewritten.edits[p].size(); ++e) {
        if (rewritten.edits[p][e].touched > 0) edits_[p][e] = true;
      }
    }
  }

  std::vector<Span> Uncovered(const Source* source) const {
    std::vector<Span> spans;
    for (size_t p = 0; p < program_.passes.size(); ++p) {
      const Pass& pass = program_.passes[p];
      for (size_t e = 0; e < pass.edits.size(); ++e) {
        if (!edits_[p][e]) spans.push_back(pass.edits[e].span);
      }
      for (size_t r = 0; r < pass.rules.size(); ++r) {
        if (!rules_[p][r]) spans.push_back(pass.rules[r].line);
      }
    }
    std::erase_if(spans, [&](const Span& span) { return span.source != source; });
    return spans;
  }

 private:
  const Program& program_;
  std::vector<std::vector<bool>> rules_, edits_;
};

// --- One test ------------------------------------------------------------------------------------

bool Mentions(const Diagnostic& diagnostic, const std::string& text) {
  const auto holds = [&](const std::string& part) { return part.find(text) != std::string::npos; };
  if (holds(diagnostic.message) || holds(diagnostic.primary.text)) return true;
  for (const Label& label : diagnostic.labels) {
    if (holds(label.text)) return true;
  }
  return std::any_of(diagnostic.notes.begin(), diagnostic.notes.end(), holds) ||
         std::any_of(diagnostic.helps.begin(), diagnostic.helps.end(), holds);
}

class TestRun {
 public:
  TestRun(const ast::File& file, const ast::Test& test, const TestOptions& options,
          Coverage* coverage)
      : tree_(BuildTree(file, test)), options_(options), coverage_(coverage) {}

  Diagnostics Run() {
    if (!Compiles()) return Settle();
    const bool runs_tensors = !tree_.givens.empty() || !tree_.expects.empty() || tree_.error;
    if (runs_tensors) RunTensors();
    Diagnostics failures = Settle();
    for (size_t i = 0; i < tree_.arrows.size(); ++i) RunArrow(i, &failures);
    return failures;
  }

  // What the diagnostics point into.
  std::vector<std::shared_ptr<const ast::File>> Files() const {
    std::vector<std::shared_ptr<const ast::File>> files = compiled_.files;
    files.push_back(tree_.file);
    return files;
  }

 private:
  // Errors that `expect error` may have asked for are told apart from failed expectations.
  void Raise(Diagnostics errors) {
    std::erase_if(errors, [](const Diagnostic& d) { return d.severity != Severity::kError; });
    std::move(errors.begin(), errors.end(), std::back_inserter(errors_));
  }
  void Raise(Diagnostic error) { errors_.push_back(std::move(error)); }

  Diagnostics Settle() {
    Diagnostics failures;
    if (!tree_.error) {
      failures = std::move(errors_);
    } else if (errors_.empty()) {
      failures.push_back(
          Error("test", "the test expects an error, and there is none").At(tree_.error_span));
    } else if (tree_.error->message) {
      const bool found = std::any_of(errors_.begin(), errors_.end(), [&](const Diagnostic& d) {
        return Mentions(d, *tree_.error->message);
      });
      if (!found) {
        failures.push_back(Error("test", "the test expects an error that says \"" +
                                             *tree_.error->message +
                                             "\", and it says: " + errors_.front().message)
                               .At(tree_.error_span));
      }
    }
    std::move(failed_.begin(), failed_.end(), std::back_inserter(failures));
    failed_.clear();
    errors_.clear();
    return failures;
  }

  bool Compiles() {
    CompileOptions compile;
    compile.params = options_.params;
    compile.with = tree_.with;
    compile.testing = true;
    compiled_ = Compile(tree_.file, compile);
    if (HasErrors(compiled_.diagnostics) || !compiled_.program) {
      Raise(std::move(compiled_.diagnostics));
      return false;
    }
    // Expects of included files come first, and are off.
    std::vector<Expect>& all = compiled_.program->expects;
    lines_.assign(std::make_move_iterator(all.end() - static_cast<std::ptrdiff_t>(tree_.size())),
                  std::make_move_iterator(all.end()));
    all.clear();
    return true;
  }

  const Program& program() const { return *compiled_.program; }

  void RunTensors() {
    const TemporaryFolder folder;
    if (folder.path().empty()) return Raise(CannotWrite("a temporary folder"));
    const std::string in = folder.path() + "/given.safetensors";
    std::vector<Given> givens;
    if (!EvaluateGivens(&givens)) return;
    Status written = WriteGivens(givens, in);
    if (!written.ok()) return Raise(std::move(written).error());
    Result<Catalog> catalog = ReadFile(in, {});
    if (!catalog.ok()) return Raise(std::move(catalog).error());

    PlanOptions plan_options;
    plan_options.testing = true;
    const Plan plan = MakePlan(program(), *catalog, plan_options);
    coverage_->Add(plan.rewritten, nullptr);
    if (HasErrors(plan.diagnostics)) return Raise(plan.diagnostics);

    const auto first = lines_.begin() + static_cast<std::ptrdiff_t>(tree_.givens.size());
    const std::vector<Expect> expects(first,
                                      first + static_cast<std::ptrdiff_t>(tree_.expects.size()));
    std::vector<ExpectedValue> values;
    failed_ = CheckExpects(expects, plan.rewritten, &values);
    if (!values.empty() || !plan.rewritten.must_equal.empty()) {
      CompareValues(plan, values, folder.path() + "/out.safetensors");
    }
  }

  bool EvaluateGivens(std::vector<Given>* givens) {
    std::unordered_set<std::string> keys;
    for (size_t i = 0; i < tree_.givens.size(); ++i) {
      Status status = ForEachTurn(lines_[i].loop, {}, [&](const Env& env) {
        Result<Given> given = EvaluateGiven(lines_[i], env);
        if (given.ok() && !keys.insert(given->key).second) {
          given = Error("given-twice", Quoted(given->key) + " is given twice");
        }
        if (given.ok()) {
          givens->push_back(std::move(*given));
        } else {
          Diagnostic error = std::move(given).error();
          if (!error.primary.span) error.At(lines_[i].span);
          Raise(std::move(error));
        }
        return errors_.empty();
      });
      if (!status.ok()) Raise(std::move(status).error());
    }
    return errors_.empty();
  }

  void CompareValues(const Plan& plan, const std::vector<ExpectedValue>& values,
                     const std::string& out) {
    PlaceOptions place;
    place.copy_ties = true;
    Result<Placed> placed = Place(plan, program(), out, place);
    if (!placed.ok()) return Raise(std::move(placed).error());
    ExecuteOptions execute;
    execute.threads = 1;
    Result<Done> done = Execute(plan, *placed, execute);
    if (!done.ok()) return Raise(std::move(done).error());
    Result<Catalog> result = ReadFile(out, {});
    if (!result.ok()) return Raise(std::move(result).error());
    Result<InputFile> file = InputFile::Open(out);
    if (!file.ok()) return Raise(std::move(file).error());
    for (const ExpectedValue& value : values) {
      const std::string_view key = plan.rewritten.outputs[value.output].key;
      const auto entry = std::find_if(result->entries.begin(), result->entries.end(),
                                      [&](const Entry& e) { return e.key == key; });
      if (entry == result->entries.end()) continue;
      const Storage& storage = result->storages[entry->storage];
      Result<std::string> bytes = file->ReadText(storage.offset + entry->start, DataBytes(*entry));
      if (!bytes.ok()) return Raise(std::move(bytes).error());
      Compare(value, *entry, *bytes);
    }
  }

  void Compare(const ExpectedValue& value, const Entry& entry, std::string_view bytes) {
    Result<TensorLiteral> literal = EncodeLiteral(value.value, entry.dtype);
    if (!literal.ok()) return Fail(value.span, std::move(literal).error());
    const std::string key = Quoted(entry.key);
    if (!(literal->shape == entry.shape)) {
      return Fail(value.span, Error("test", key + " has the shape " + ToString(entry.shape) +
                                                ", not " + ToString(literal->shape)));
    }
    const int64_t at = FirstDifference(entry.dtype, literal->bytes, bytes);
    if (at < 0) return;
    const size_t width = static_cast<size_t>(BitsOf(entry.dtype)) / 8;
    const size_t offset = static_cast<size_t>(at) * width;
    Dims index(entry.shape.size(), 0);
    int64_t rest = at;
    for (size_t d = entry.shape.size(); d-- > 0;) {
      index[d] = rest % entry.shape[d];
      rest /= entry.shape[d];
    }
    Fail(value.span,
         Error("test", key + (index.empty() ? "" : " at " + ToString(index)) + " is " +
                           PrintElement(entry.dtype, bytes.substr(offset, width)) + ", not " +
                           PrintElement(entry.dtype,
                                        std::string_view(literal->bytes).substr(offset, width))));
  }

  void Fail(Span span, Diagnostic failure) {
    if (!failure.primary.span) failure.At(span);
    failed_.push_back(std::move(failure));
  }

  // --- Arrow lines -----------------------------------------------------------------------------

  // What became of one key.
  struct Fate {
    ast::Arrow::Outcome outcome = ast::Arrow::Outcome::kTarget;
    std::string key;         // unless dropped
    bool is_passed = false;  // no rule claimed it
    bool is_kept = false;    // the last rule that claimed it is a keep
    Diagnostics errors;
  };

  static std::string InWords(const Fate& fate) {
    if (fate.outcome == ast::Arrow::Outcome::kDropped) return "is dropped";
    return "becomes " + Quoted(fate.key) +
           (fate.is_kept     ? " (kept)"
            : fate.is_passed ? " (passed: no rule claims it)"
                             : "");
  }

  static bool Fits(const Fate& fate, const ast::Arrow& arrow, const std::string& target) {
    switch (arrow.outcome) {
      case ast::Arrow::Outcome::kDropped:
        return fate.outcome == ast::Arrow::Outcome::kDropped;
      case ast::Arrow::Outcome::kKept:
        return fate.is_kept;
      case ast::Arrow::Outcome::kPassed:
        return fate.is_passed;
      case ast::Arrow::Outcome::kTarget:
        return fate.outcome == ast::Arrow::Outcome::kTarget && fate.key == target;
    }
    return false;
  }

  Fate RunKey(const std::string& key, const NamesOnly& names) {
    Catalog catalog;
    catalog.storages.emplace_back();
    Entry entry;
    entry.key = key;
    catalog.entries.push_back(std::move(entry));
    RewriteOptions rewrite;
    rewrite.testing = true;
    const Rewritten rewritten = Rewrite(names.program, catalog, rewrite);
    coverage_->Add(rewritten, &names.rules);
    Fate fate;
    if (HasErrors(rewritten.diagnostics)) {
      fate.errors = rewritten.diagnostics;
    } else if (rewritten.outputs.empty()) {
      fate.outcome = ast::Arrow::Outcome::kDropped;
    } else {
      const OutputKey& output = rewritten.outputs.front();
      fate.key = output.key;
      fate.is_passed = !output.claimed;
      if (output.claimed && output.by.rule >= 0) {
        const Pass& pass = names.program.passes[static_cast<size_t>(output.by.pass)];
        fate.is_kept = pass.rules[static_cast<size_t>(output.by.rule)].verb == ast::Verb::kKeep;
      }
    }
    return fate;
  }

  // The text of an arrow's key or target.
  std::optional<std::string> PrintLine(size_t index, Diagnostics* failures) {
    const Expect& line = lines_[tree_.givens.size() + tree_.expects.size() + index];
    std::string text;
    const std::vector<std::string_view> none;
    Env env;
    env.variables = &none;
    Status printed = line.target->Print(env, &text);
    if (printed.ok()) return text;
    failures->push_back(std::move(printed).error());
    return std::nullopt;
  }

  void RunArrow(size_t index, Diagnostics* failures) {
    const ast::TestLine& line = *tree_.arrows[index];
    const ast::Arrow& arrow = std::get<ast::Arrow>(line.node);
    const std::optional<std::string> key = PrintLine(index, failures);
    if (!key) return;
    std::string target;
    if (arrow.target) {
      const auto at = std::find(tree_.arrow_targets.begin(), tree_.arrow_targets.end(), &line);
      const std::optional<std::string> printed = PrintLine(
          tree_.arrows.size() + static_cast<size_t>(at - tree_.arrow_targets.begin()), failures);
      if (!printed) return;
      target = *printed;
    }
    std::optional<Fate> first;
    size_t choices = 1;
    for (size_t choice = 0; choice < choices; ++choice) {
      const NamesOnly names = ReduceToNames(program(), choice);
      choices = names.choices;
      Fate fate = RunKey(*key, names);
      if (fate.errors.empty() && Fits(fate, arrow, target)) return;
      if (!first) first = std::move(fate);
    }
    if (!first->errors.empty()) {
      for (Diagnostic& error : first->errors) {
        if (error.severity != Severity::kError) continue;
        failures->push_back(std::move(error).Also(line.span, "for this line"));
      }
      return;
    }
    std::string wanted = arrow.outcome == ast::Arrow::Outcome::kDropped  ? "dropped"
                         : arrow.outcome == ast::Arrow::Outcome::kKept   ? "kept"
                         : arrow.outcome == ast::Arrow::Outcome::kPassed ? "passed"
                                                                         : Quoted(target);
    failures->push_back(
        Error("test", Quoted(*key) + ' ' + InWords(*first) + ", not " + wanted).At(line.span));
  }

  TestTree tree_;
  const TestOptions& options_;
  Coverage* coverage_;
  Compiled compiled_;
  std::vector<Expect> lines_;  // as TestTree orders them
  Diagnostics errors_;         // of compiling, planning and running
  Diagnostics failed_;         // expectations that do not hold
};

}  // namespace

bool TestReport::passed() const {
  return diagnostics.empty() && std::all_of(tests.begin(), tests.end(),
                                            [](const TestCase& test) { return test.passed(); });
}

TestReport RunTests(std::shared_ptr<const ast::File> file, const TestOptions& options) {
  TestReport report;
  report.files.push_back(file);
  CompileOptions compile;
  compile.params = options.params;
  compile.testing = true;
  Compiled whole = Compile(file, compile);
  report.files.insert(report.files.end(), whole.files.begin(), whole.files.end());
  if (HasErrors(whole.diagnostics) || !whole.program) {
    report.diagnostics = std::move(whole.diagnostics);
    return report;
  }
  Coverage coverage(*whole.program);
  for (const ast::Statement& statement : file->statements) {
    const auto* test = std::get_if<ast::Test>(&statement.node);
    if (!test) continue;
    report.tests.push_back({test->name, statement.span, {}});
    TestRun run(*file, *test, options, &coverage);
    report.tests.back().diagnostics = run.Run();
    const std::vector<std::shared_ptr<const ast::File>> files = run.Files();
    report.files.insert(report.files.end(), files.begin(), files.end());
  }
  report.uncovered = coverage.Uncovered(file->source.get());
  return report;
}

}  // namespace rekey
