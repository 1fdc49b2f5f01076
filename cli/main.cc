// The program: finds the verb in the table, reads its arguments, runs it.
//
// Exit status: 0 yes, 1 no, 2 could not run. A reader that goes away (`rekey keys x | head`) ends
// the program quietly; a signal takes the temporary files of a run with it.
#include <cerrno>
#include <csignal>
#include <cstring>
#include <iostream>

#include "cli/arguments.h"
#include "cli/help.h"
#include "cli/report.h"
#include "cli/verbs.h"
#include "engine/execute.h"
#include "grammar/printable.h"
#include "grammar/suggest.h"

namespace rekey::cli {
namespace {

extern "C" void OnSignal(int signal) {
  RemoveTemporaries();
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

int UnknownVerb(const std::string& word) {
  Diagnostic error = Error("unknown-verb", "rekey has no verb `" + Printable(word) + "`");
  std::vector<std::string_view> names;
  for (const VerbInfo& verb : Verbs()) names.push_back(verb.name);
  for (std::string_view near : Nearest(word, names)) {
    error.Help("did you mean `rekey " + std::string(near) + "`?");
  }
  error.Help("`rekey help` lists the verbs");
  return Fail(Settings(), error);
}

// Signals that were ignored when the program was started (nohup) stay so.
void HandleSignals() {
  for (int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) {
    if (std::signal(signal, OnSignal) == SIG_IGN) std::signal(signal, SIG_IGN);
  }
  // A pipe that nobody reads ends the program quietly, whatever the parent did to the signal.
  std::signal(SIGPIPE, OnSignal);
  // A file size limit is an error of write(), which says more than a signal.
  std::signal(SIGXFSZ, SIG_IGN);
}

void PrintVersion() { std::cout << "rekey " << REKEY_VERSION << "\n"; }

// A command line without a verb: only what needs none.
int WithoutVerb(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word == "--version" || word == "-V") return PrintVersion(), kYes;
    if (word == "--help" || word == "-h") return std::cout << Overview(), kYes;
  }
  if (argc > 1) {
    return Fail(Settings(), Error("missing-verb", "there is no verb among the arguments")
                                .Help("`rekey help` lists the verbs"));
  }
  std::cerr << Overview();
  return kFailed;
}

int Main(int argc, char** argv) {
  HandleSignals();
  std::ios::sync_with_stdio(false);
  const int at = VerbPosition(argc, argv);
  if (at == argc) return WithoutVerb(argc, argv);
  const VerbInfo* verb = FindVerb(argv[at]);
  if (verb == nullptr) return UnknownVerb(argv[at]);
  Result<Arguments> arguments = ParseArguments(*verb, at, argc, argv);
  if (!arguments.ok()) return Fail(Settings(), arguments.error());
  if (arguments->help) {
    std::cout << HelpOf(*verb);
    return kYes;
  }
  if (arguments->settings.version) return PrintVersion(), kYes;
  const int status = verb->run(arguments->settings);
  std::cout.flush();
  if (!std::cout) {
    return Fail(Settings(), Error("output-failed", "standard output could not be written")
                                .Note(std::strerror(errno))
                                .Help("see whether the disk that it goes to is full"));
  }
  return status;
}

}  // namespace
}  // namespace rekey::cli

int main(int argc, char** argv) { return rekey::cli::Main(argc, argv); }
