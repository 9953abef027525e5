#include "main/agent_program.h"

#include <sys/mman.h>

#include <string_view>

#include "adapters/nodes_local/program_file.h"
#include "base/log.h"

#ifdef LAVANT_AGENT_FILE

// On pages of its own, so that they can be given back.
asm(".pushsection .rodata.lavant_agent, \"a\", @progbits\n"
    ".balign 4096\n"
    ".globl lavant_agent_begin, lavant_agent_end\n"
    ".hidden lavant_agent_begin, lavant_agent_end\n"
    "lavant_agent_begin:\n"
    ".incbin \"" LAVANT_AGENT_FILE
    "\"\n"
    "lavant_agent_end:\n"
    ".balign 4096\n"
    ".popsection\n");

extern "C" {
extern const char lavant_agent_begin[];
extern const char lavant_agent_end[];
}

#endif

namespace lavant {
namespace {

std::string_view embedded_agent() {
#ifdef LAVANT_AGENT_FILE
    return {lavant_agent_begin, lavant_agent_end};
#else
    return {};
#endif
}

}  // namespace

std::vector<std::string> install_agent(const DataFolder& folder) {
    const std::string_view agent = embedded_agent();
    if (agent.empty()) return {};
    const Result<void> installed = nodes_local::install_program(folder.agent(), agent);
    // Nobody looks at these pages again: the server need not hold them.
    ::madvise(const_cast<char*>(agent.data()), agent.size(), MADV_DONTNEED);
    if (installed) return {folder.agent()};
    log(Level::Warning, "agent_not_installed", {{"message", installed.error().message}});
    return {};
}

}  // namespace lavant
