#include "wire/job_file.h"

#include <filesystem>
#include <system_error>

#include "base/files.h"
#include "base/limits.h"
#include "base/text.h"
#include "core/model/size.h"
#include "wire/job_to_arm.h"
#include "wire/settings.h"
#include "wire/yaml.h"

namespace lavant::wire {
namespace {

using spec::Document;

Result<Document> load_yaml(const std::string& path) {
    LAVANT_TRY(const std::string text, read_file(path, limits::kYamlBytes));
    return parse_yaml(text, path);
}

spec::PathKind kind_on_disk(const std::string& path) {
    std::error_code error;
    const auto status = std::filesystem::status(path, error);
    if (error || !std::filesystem::exists(status)) return spec::PathKind::Absent;
    return std::filesystem::is_directory(status) ? spec::PathKind::Folder : spec::PathKind::File;
}

Result<Document> read_text(std::string_view text, const std::string& label, const char* what,
                           const std::vector<std::string>& sets) {
    LAVANT_TRY(Document root, parse_yaml(text, label));
    if (!root.is_map()) {
        return fail(ErrorCode::InvalidArgument, "'" + label + "' is not a " + what +
                                                    ": it must be a mapping, but is " +
                                                    std::string(name_of(root.kind)));
    }
    for (const std::string& setting : sets) LAVANT_TRY_VOID(apply_setting(root, setting));
    return root;
}

Result<spec::JobSpec> load_with(std::string_view text, const std::string& label,
                                const std::vector<std::string>& sets, const spec::ComponentLoader& loader) {
    LAVANT_TRY(const Document root, read_text(text, label, "job", sets));
    auto job = spec::parse_job(root, loader);
    return std::move(job).map_error(in(label));
}

struct FileText {
    std::string text;
    std::string folder;
};

Result<FileText> read_whole(const std::string& path, const char* what) {
    if (kind_on_disk(path) == spec::PathKind::Folder) {
        return fail(ErrorCode::InvalidArgument,
                    "cannot read '" + path + "': it is a folder; name the " + what + " file in it");
    }
    LAVANT_TRY(std::string text, read_file(path, limits::kYamlBytes));
    std::error_code error;
    const std::filesystem::path whole = std::filesystem::absolute(path, error);
    std::string folder =
        (error ? std::filesystem::path(path) : whole).parent_path().lexically_normal().string();
    return FileText{std::move(text), std::move(folder)};
}

// Refuses what would be read from this machine's disk.
class NoLocalFiles : public Resolver {
 public:
    explicit NoLocalFiles(std::string label) : label_(std::move(label)) {}
    Result<std::string> code(const CodeAsk& ask) override {
        if (!ask.local.empty() || !ask.includes.empty()) return refuse();
        return Resolver::code(ask);
    }
    Result<std::string> environment(const spec::EnvironmentSpec& environment) override {
        if (!environment.build_path.empty() || !environment.conda_file.empty()) return refuse();
        return Resolver::environment(environment);
    }
    Result<std::string> data(const spec::InputSpec& input) override {
        if (!input.local_path.empty()) return refuse();
        return Resolver::data(input);
    }

 private:
    tl::unexpected<Error> refuse() const {
        return fail(ErrorCode::PermissionDenied,
                    label_ + " names files of the machine it was made on; submit its job file there instead");
    }
    std::string label_;
};

}  // namespace

spec::ComponentLoader disk_loader(std::string folder) {
    spec::ComponentLoader loader;
    loader.folder = std::move(folder);
    loader.load = load_yaml;
    loader.read_text = [](const std::string& path) { return read_file(path, limits::kYamlBytes); };
    loader.kind_of = kind_on_disk;
    return loader;
}

Result<spec::JobSpec> load_job_file(const std::string& path, const std::vector<std::string>& sets) {
    LAVANT_TRY(const FileText file, read_whole(path, "job"));
    return load_job_text(file.text, path, file.folder, sets);
}

Result<spec::ComponentSpec> load_component_file(const std::string& path,
                                                const std::vector<std::string>& sets) {
    LAVANT_TRY(const FileText file, read_whole(path, "component"));
    return load_component_text(file.text, path, file.folder, sets);
}

Result<spec::ComponentSpec> load_component_text(std::string_view text, const std::string& label,
                                                const std::string& folder,
                                                const std::vector<std::string>& sets) {
    LAVANT_TRY(const Document root, read_text(text, label, "component", sets));
    auto component = spec::parse_component(root, disk_loader(folder));
    return std::move(component).map_error(in(label));
}

Result<spec::JobSpec> load_job_text(std::string_view text, const std::string& label,
                                    const std::string& folder, const std::vector<std::string>& sets) {
    return load_with(text, label, sets, disk_loader(folder));
}

Result<spec::JobSpec> load_foreign_job_text(std::string_view text, const std::string& label,
                                            const std::vector<std::string>& sets) {
    const auto refuse = [](const std::string& path) {
        return fail(ErrorCode::PermissionDenied,
                    "'" + path + "' lies on this machine, and the job is not from here");
    };
    spec::ComponentLoader none;
    none.folder = "/";
    none.load = [refuse](const std::string& path) -> Result<Document> { return refuse(path); };
    none.read_text = [refuse](const std::string& path) -> Result<std::string> { return refuse(path); };
    none.kind_of = [](const std::string&) { return spec::PathKind::Absent; };
    LAVANT_TRY(spec::JobSpec job, load_with(text, label, sets, none));
    NoLocalFiles resolver(label);
    LAVANT_TRY_VOID(to_arm_job(job, resolver));
    return job;
}

namespace {

void add_command_findings(const spec::CommandJobSpec& spec, std::vector<std::string>& findings) {
    const std::string& tier = spec.queue ? spec.queue->job_tier : std::string();
    if (!tier.empty() && !spec.compute.empty() && spec.compute != "serverless") {
        findings.emplace_back(
            "queue_settings.job_tier: ignored; it only matters without a compute of one's own");
    }
    const std::string& type = spec.resources ? spec.resources->instance_type : std::string();
    const auto size = find_size(type);
    if (size && !spec.compute.empty()) {
        findings.emplace_back("resources.instance_type: ignored; a named compute has its own size");
    } else if (size) {
        if (const auto resolved = resolve_size(*size, RetiredSizes::Refuse); !resolved)
            findings.push_back("resources.instance_type: refused; " + resolved.error().message);
    } else if (!type.empty() && spec.compute.empty()) {
        findings.push_back("resources.instance_type: refused; Azure has no size '" + type + "'");
    }
}

}  // namespace

std::vector<std::string> azure_findings(const spec::JobSpec& job) {
    const spec::JobHead& head = spec::head_of(job);
    std::vector<std::string> findings = head.beyond_azure;
    for (const auto& [key, value] : head.properties) {
        if (key.starts_with("lavant."))
            findings.push_back("properties." + key + ": ignored; kept with the job, without effect");
    }
    const auto check_names = [&findings](const std::string& section, const auto& all) {
        for (const auto& one : all) {
            if (one.name.find('-') != std::string::npos)
                findings.push_back(section + "." + one.name +
                                   ": refused; use letters, digits and '_' in the name");
        }
    };
    std::visit(
        [&check_names](const auto& one) {
            if constexpr (requires { one.inputs; }) check_names("inputs", one.inputs);
            if constexpr (requires { one.outputs; }) check_names("outputs", one.outputs);
        },
        job);
    if (head.compute == "local") {
        findings.emplace_back(
            "compute: local runs in a container on the submitter's machine and appears in no workspace");
    }
    if (const auto* command = std::get_if<spec::CommandJobSpec>(&job))
        add_command_findings(*command, findings);
    return findings;
}

}  // namespace lavant::wire
