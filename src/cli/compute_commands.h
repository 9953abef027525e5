#pragma once
// `lavant compute show | list | delete | list-nodes | start | stop | restart | evict`: computes that are
// there.

#include <string>
#include <vector>

#include "cli/connect.h"
#include "cli/context.h"
#include "cli/output.h"
#include "cli/session.h"

namespace lavant::cli {

[[nodiscard]] Outcome<Exit> show_compute(Session& session, const Console& console, const std::string& name,
                                         const Output& output);

struct ComputeFilter {
    std::string type;  // "" any
    int max = 0;       // 0: all
};
[[nodiscard]] Outcome<Exit> list_computes(Session& session, const Console& console,
                                          const ComputeFilter& filter, const Output& output);
[[nodiscard]] Outcome<Exit> list_nodes(Session& session, const Console& console, const std::string& name,
                                       const Output& output);

// Detach: of a record only; what it stands for is not touched.
enum class Removal { Delete, Detach };
struct RemoveOptions {
    std::string name;
    bool yes = false;
    Removal how = Removal::Delete;
};
[[nodiscard]] Outcome<Exit> remove_compute(Session& session, Context& context, const RemoveOptions& options);

// `verb` is start, stop or restart.
[[nodiscard]] Outcome<Exit> power_compute(Session& session, const Console& console, const std::string& name,
                                          const std::string& verb);

// `node` "": the first that runs something.
[[nodiscard]] Outcome<Exit> evict_node(Session& session, const Console& console, const std::string& name,
                                       const std::string& node, const Output& output);

// --- as they are printed; `compute` as az shows it ---
std::string render_compute(const wire::Json& compute, const Console& console);
std::string render_compute_line(const wire::Json& compute);
// Those of the server's answer, one remark each.
void say_compute_warnings(const wire::Json& arm, const Console& console);

// For completion.
std::vector<std::string> known_compute_names(Context& context, const ServerChoice& choice,
                                             const std::string& begun);

}  // namespace lavant::cli
