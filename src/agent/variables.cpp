#include "agent/variables.h"

#include <algorithm>
#include <optional>
#include <string>

#include "base/text.h"

namespace lavant::agent {
namespace {

using Context = VariableContext;
using Value = std::optional<std::string>;  // nullopt: not set

struct Variable {
    std::string_view name;
    std::string_view meaning;
    Value (*value)(const Context&);
};

constexpr const char* kSystemPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
constexpr std::string_view kVisibleGpus = "CUDA_VISIBLE_DEVICES";
constexpr int kRendezvousPort = 6105;        // of a task that is alone: nobody else asks for it
constexpr int kTensorflowWorkersMax = 2000;  // more names than that are too long for one variable

Value if_set(const std::string& text) { return text.empty() ? Value{} : Value{text}; }

std::string master(const Context& c) { return c.start.hosts.empty() ? "127.0.0.1" : c.start.hosts.front(); }

std::string joined_hosts(const Context& c) {
    std::string all;
    for (const std::string& host : c.start.hosts) all += (all.empty() ? "" : ",") + host;
    return all.empty() ? "127.0.0.1" : all;
}

bool is_python_home(const Context& c) { return !c.launch.environment.python_home.empty(); }

Value path(const Context& c) {
    std::string folders = is_python_home(c) ? c.launch.environment.python_home + "/bin:" : std::string();
    folders += kSystemPath;
    if (!c.programs_folder.empty()) folders += ":" + c.programs_folder;
    return folders;
}

// --- ranks: a task's index counts the processes of the first node, then those of the next ---

int processes(const Context& c) { return std::max(c.start.processes, 1); }
int rendezvous_port(const Context& c) { return c.start.port > 0 ? c.start.port : kRendezvousPort; }

Value node_rank(const Context& c) { return std::to_string(c.start.task.index / processes(c)); }
Value rank(const Context& c) { return std::to_string(c.start.task.index); }
Value local_rank(const Context& c) { return std::to_string(c.start.task.index % processes(c)); }
Value local_size(const Context& c) { return std::to_string(processes(c)); }
Value world_size(const Context& c) { return std::to_string(c.start.instances * processes(c)); }

Value if_mpi(const Context& c, Value (*value)(const Context&)) {
    return c.launch.distribution == "mpi" ? value(c) : Value{};
}

// Every rank is a worker with a port of its own: the nodes may share one loopback device.
Value tf_config(const Context& c) {
    const int count = c.start.instances * processes(c);
    if (c.launch.distribution != "tensorflow" || count > kTensorflowWorkersMax) return std::nullopt;
    std::string workers;
    for (int worker = 0; worker < count; ++worker) {
        const auto node = static_cast<std::size_t>(worker / processes(c));
        const std::string& host = node < c.start.hosts.size() ? c.start.hosts[node] : master(c);
        workers +=
            (worker == 0 ? "" : ", ") + json_quote(host + ":" + std::to_string(rendezvous_port(c) + worker));
    }
    return "{\"cluster\": {\"worker\": [" + workers +
           "]}, \"task\": {\"type\": \"worker\", \"index\": " + *rank(c) + "}, \"environment\": \"cloud\"}";
}

// --- GPUs ---

// Unset, a program takes every GPU it finds: where there is one, a task without any is told so.
Value visible_gpus(const Context& c) {
    return c.start.gpus.empty() && !c.machine_has_gpus ? Value{} : Value{c.start.gpus};
}

int count_gpus(const Context& c) {
    return c.start.gpus.empty() ? 0 : static_cast<int>(split(c.start.gpus, ',').size());
}

// A job may hide GPUs from itself; those of others it may not ask for.
bool names_own_gpus(const Context& c, std::string_view wanted) {
    if (wanted.empty() || wanted == "-1") return true;
    const std::vector<std::string_view> own = split(c.start.gpus, ',');
    return std::ranges::all_of(split(wanted, ','), [&own](std::string_view gpu) {
        return !trim(gpu).empty() && std::ranges::find(own, trim(gpu)) != own.end();
    });
}

Value workspace_scope(const Context& c) {
    return "/subscriptions/" + c.launch.subscription + "/resourceGroups/" + c.launch.resource_group +
           "/providers/Microsoft.MachineLearningServices/workspaces/" + c.launch.workspace_name;
}
Value run_scope(const Context& c) { return *workspace_scope(c) + "/experiments/" + c.launch.experiment_name; }

const Variable kTable[] = {
    {"PATH", "the environment's bin folder, then the system's", path},
    {"HOME", "a place for dot files that is not kept", [](const Context&) { return Value{"/tmp"}; }},
    {"USER", "a name, where programs ask for one: the job's user has no entry in the system's list",
     [](const Context&) { return Value{"lavant"}; }},
    {"LOGNAME", "the same", [](const Context&) { return Value{"lavant"}; }},
    {"LANG", "UTF-8 text", [](const Context&) { return Value{"C.UTF-8"}; }},
    {"VIRTUAL_ENV", "the Python environment, where one is used",
     [](const Context& c) { return if_set(c.launch.environment.python_home); }},
    {"PYTHONUNBUFFERED", "1: output appears in the log as it is written",
     [](const Context&) { return Value{"1"}; }},
    {"AZUREML_RUN_ID", "the job's name", [](const Context& c) { return Value{c.launch.job_name}; }},
    {"AZUREML_ROOT_RUN_ID", "the name of the outermost job it belongs to",
     [](const Context& c) {
         return Value{c.launch.root_job_name.empty() ? c.launch.job_name : c.launch.root_job_name};
     }},
    {"AZUREML_EXPERIMENT_ID", "the experiment's id",
     [](const Context& c) { return Value{c.launch.experiment_id}; }},
    {"AZUREML_ARM_SUBSCRIPTION", "the workspace's subscription",
     [](const Context& c) { return Value{c.launch.subscription}; }},
    {"AZUREML_ARM_RESOURCEGROUP", "its resource group",
     [](const Context& c) { return Value{c.launch.resource_group}; }},
    {"AZUREML_ARM_WORKSPACE_NAME", "its name",
     [](const Context& c) { return Value{c.launch.workspace_name}; }},
    {"AZUREML_ARM_PROJECT_NAME", "the experiment's name",
     [](const Context& c) { return Value{c.launch.experiment_name}; }},
    {"AZUREML_WORKSPACE_SCOPE", "the workspace's resource id", workspace_scope},
    {"AZUREML_EXPERIMENT_SCOPE", "the experiment's resource id", run_scope},
    {"AZUREML_SERVICE_ENDPOINT", "the server's URL", [](const Context& c) { return Value{c.server_url}; }},
    {"AZUREML_RUN_TOKEN", "the job's token for the server's API",
     [](const Context& c) { return if_set(c.start.job_token); }},
    {"AZUREML_NODE_COUNT", "how many nodes the job runs on",
     [](const Context& c) { return Value{std::to_string(c.start.instances)}; }},
    {"AZUREML_CR_NODE_RANK", "which of them this is, from 0", node_rank},
    {"NODE_RANK", "the same", node_rank},
    {"GROUP_RANK", "the same", node_rank},
    {"NODE_COUNT", "how many nodes the job runs on",
     [](const Context& c) { return Value{std::to_string(c.start.instances)}; }},
    {"RANK", "which of the job's processes this is, from 0", rank},
    {"LOCAL_RANK", "which of those on its node", local_rank},
    {"WORLD_SIZE", "processes on all nodes together", world_size},
    {"LOCAL_WORLD_SIZE", "processes on this node", local_size},
    {"MASTER_ADDR", "host of node 0", [](const Context& c) { return Value{master(c)}; }},
    {"MASTER_PORT", "port for the rendezvous there, kept free for the job",
     [](const Context& c) { return Value{std::to_string(rendezvous_port(c))}; }},
    {"OMPI_COMM_WORLD_RANK", "`RANK`, with `distribution.type: mpi`",
     [](const Context& c) { return if_mpi(c, rank); }},
    {"OMPI_COMM_WORLD_SIZE", "`WORLD_SIZE`, likewise",
     [](const Context& c) { return if_mpi(c, world_size); }},
    {"OMPI_COMM_WORLD_LOCAL_RANK", "`LOCAL_RANK`, likewise",
     [](const Context& c) { return if_mpi(c, local_rank); }},
    {"OMPI_COMM_WORLD_LOCAL_SIZE", "`LOCAL_WORLD_SIZE`, likewise",
     [](const Context& c) { return if_mpi(c, local_size); }},
    {"AZ_BATCHAI_MPI_MASTER_NODE", "`MASTER_ADDR`, likewise",
     [](const Context& c) { return if_mpi(c, [](const Context& inner) { return Value{master(inner)}; }); }},
    {"TF_CONFIG", "the cluster in TensorFlow's words, with `distribution.type: tensorflow`; all are workers",
     tf_config},
    {kVisibleGpus,
     "the task's own GPUs, by commas, empty for none; unset where the machine has none. The job's own value "
     "counts only where it names some of these",
     visible_gpus},
    {"AZ_BATCHAI_JOB_TEMP", "a scratch folder", [](const Context&) { return Value{"/tmp"}; }},
    {"AZ_BATCHAI_NODE_LIST", "hosts of all nodes, by commas",
     [](const Context& c) { return Value{joined_hosts(c)}; }},
    {"AZ_BATCHAI_WORKER_HOSTS", "the same", [](const Context& c) { return Value{joined_hosts(c)}; }},
    {"AZ_BATCHAI_NUM_GPUS", "how many GPUs the task has",
     [](const Context& c) { return Value{std::to_string(count_gpus(c))}; }},
    {"AZ_BATCHAI_TASK_INDEX", "which node this is, from 0", node_rank},
    {"AZ_BATCH_MASTER_NODE", "host and port of node 0",
     [](const Context& c) { return Value{master(c) + ":" + std::to_string(rendezvous_port(c))}; }},
    {"AZ_BATCH_NODE_LIST", "hosts of all nodes, by commas",
     [](const Context& c) { return Value{joined_hosts(c)}; }},
    {"AZ_BATCH_HOST_LIST", "the same", [](const Context& c) { return Value{joined_hosts(c)}; }},
    {"MLFLOW_TRACKING_URI", "where MLflow clients log to",
     [](const Context& c) { return Value{tracking_url(c.server_url, c.launch)}; }},
    {"MLFLOW_TRACKING_TOKEN", "the job's token for it",
     [](const Context& c) { return if_set(c.start.job_token); }},
    {"MLFLOW_RUN_ID", "the job's run", [](const Context& c) { return Value{c.launch.job_name}; }},
    {"MLFLOW_EXPERIMENT_NAME", "its experiment",
     [](const Context& c) { return Value{c.launch.experiment_name}; }},
    {"MLFLOW_EXPERIMENT_ID", "its experiment's id",
     [](const Context& c) { return if_set(c.launch.experiment_id); }},
    {"MLFLOW_TRACKING_SERVER_CERT_PATH", "the server's certificate authority",
     [](const Context& c) { return if_set(c.ca_file); }},
    {"LAVANT_ATTEMPT", "1 for the first try, more after a retry",
     [](const Context& c) { return Value{std::to_string(c.start.task.attempt)}; }},
    {"LAVANT_NODE", "the node's name", [](const Context& c) { return Value{c.node}; }},
    {"LAVANT_ENDPOINT", "the server's URL", [](const Context& c) { return Value{c.server_url}; }},
    {"LAVANT_CA", "the server's certificate authority", [](const Context& c) { return if_set(c.ca_file); }},
    {"LAVANT_TOKEN", "the job's token for the server's API",
     [](const Context& c) { return if_set(c.start.job_token); }},
};

// A name and value that execve can carry and a shell can read.
bool is_sound(std::string_view name, std::string_view value) {
    return !name.empty() && name.find_first_of(std::string_view("=\0", 2)) == std::string_view::npos &&
           value.find('\0') == std::string_view::npos;
}

}  // namespace

std::string tracking_url(const std::string& server_url, const lavant::Launch& launch) {
    return server_url + "/mlflow/v1.0/subscriptions/" + launch.subscription + "/resourceGroups/" +
           launch.resource_group + "/providers/Microsoft.MachineLearningServices/workspaces/" +
           launch.workspace_name;
}

std::vector<std::string> make_environment(const VariableContext& context) {
    std::map<std::string, std::string> all;
    for (const Variable& variable : kTable) {
        if (Value value = variable.value(context)) all[std::string(variable.name)] = std::move(*value);
    }
    for (const auto& [name, value] : context.inputs) all["AZURE_ML_INPUT_" + name] = value;
    for (const auto& [name, value] : context.outputs) all["AZURE_ML_OUTPUT_" + name] = value;
    for (const auto& [name, value] : context.launch.environment_variables) {
        const bool shares = name == kVisibleGpus && visible_gpus(context) && !names_own_gpus(context, value);
        if (!shares) all[name] = value;
    }
    std::vector<std::string> lines;
    lines.reserve(all.size());
    for (const auto& [name, value] : all) {
        if (is_sound(name, value)) lines.push_back(name + "=" + value);
    }
    return lines;
}

std::vector<VariableDoc> documented_variables() {
    std::vector<VariableDoc> docs;
    for (const Variable& variable : kTable) docs.push_back({variable.name, variable.meaning});
    docs.push_back({"AZURE_ML_INPUT_<name>", "path, URI or literal of an input"});
    docs.push_back({"AZURE_ML_OUTPUT_<name>", "path or URI of an output"});
    return docs;
}

}  // namespace lavant::agent
