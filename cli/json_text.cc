#include "cli/json_text.h"

namespace rekey::cli {

void JsonText::Type(const TensorType& type) {
  Field("dtype", Name(type.dtype));
  Key("shape");
  StartArray();
  for (int64_t size : type.shape) Integer(size);
  EndArray();
}

void JsonText::Texts(std::string_view key, const std::vector<std::string>& texts) {
  Key(key);
  StartArray();
  for (const std::string& text : texts) Text(text);
  EndArray();
}

void JsonText::Message(const Diagnostic& diagnostic) {
  constexpr std::string_view kSeverities[] = {"error", "warning", "note"};
  StartObject();
  Field("severity", kSeverities[static_cast<int>(diagnostic.severity)]);
  Field("name", diagnostic.name);
  Field("message", diagnostic.message);
  const Span span = diagnostic.primary.span;
  if (span) {
    const Location begin = span.source->Locate(span.begin);
    const Location end = span.source->Locate(span.end);
    Field("file", span.source->name());
    Field("line", uint64_t{begin.line});
    Field("column", uint64_t{begin.column});
    Field("end_column", uint64_t{end.line == begin.line ? end.column : begin.column});
  } else {
    for (std::string_view key : {"file", "line", "column", "end_column"}) Key(key), Null();
  }
  Texts("notes", diagnostic.notes);
  Texts("helps", diagnostic.helps);
  EndObject();
}

void JsonText::Messages(std::string_view key, const Diagnostics& diagnostics) {
  Key(key);
  StartArray();
  for (const Diagnostic& diagnostic : diagnostics) Message(diagnostic);
  EndArray();
}

void PrintFailure(const Diagnostics& errors, const Diagnostics& warnings) {
  JsonText json;
  json.StartObject();
  json.Messages("errors", errors);
  json.Messages("warnings", warnings);
  json.EndObject();
  json.Print();
}

}  // namespace rekey::cli
