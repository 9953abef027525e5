// What the steps of a pipeline mean to each other: where inputs come from, and so of which type they are.

#include <algorithm>
#include <map>

#include "base/text.h"
#include "core/spec/automl.h"
#include "core/spec/expression.h"
#include "core/spec/pipeline_reading.h"

namespace lavant::spec {
namespace {

constexpr const char* kFolder = "uri_folder";

struct Found {
    std::string type = kFolder;
    std::string mode;
};

class Binder {
 public:
    Binder(std::vector<StepDraft>& drafts, const PipelineScope& scope, Reading& reading)
        : drafts_(drafts), scope_(scope), reading_(reading) {
        for (const StepDraft& draft : drafts_) by_name_.emplace(draft.step.name, &draft);
    }

    std::vector<StepSpec> bind() {
        for (StepDraft& draft : drafts_) {
            if (draft.own) settle_own(draft);
        }
        for (StepDraft& draft : drafts_) check(draft);
        check_circles();
        std::vector<StepSpec> steps;
        for (StepDraft& draft : drafts_) steps.push_back(std::move(draft.step));
        return steps;
    }

 private:
    void problem(const StepDraft& draft, std::string_view section, const std::string& name,
                 std::string message) {
        const Document* map = draft.written->find(section);
        const Document* value = map != nullptr ? map->find(name) : nullptr;
        reading_.problems.add(draft.path + "." + std::string(section) + "." + name,
                              value != nullptr ? value->at : draft.written->at, std::move(message));
    }

    static std::vector<std::string> names_of(const std::vector<PortSpec>& ports) {
        std::vector<std::string> names;
        for (const PortSpec& port : ports) names.push_back(port.name);
        return names;
    }

    // The type of what a step makes; nothing if it makes no such thing.
    std::optional<Found> output_of(const StepDraft& source, const std::string& port) const {
        const auto given = std::ranges::find(source.step.outputs, port, &OutputSpec::name);
        const bool is_given = given != source.step.outputs.end();
        if (source.step.automl) {
            if (!is_given) return std::nullopt;
            return Found{"mltable", ""};
        }
        if (source.step.component && !source.own) {
            const PortSpec* declared = find_port(source.step.component->outputs, port);
            if (declared == nullptr) return std::nullopt;
            return Found{declared->type.empty() ? kFolder : declared->type, ""};
        }
        if (!is_given) {
            // A registered component may have outputs that the step does not mention.
            if (!source.step.component_reference.empty()) return Found{};
            return std::nullopt;
        }
        if (given->binding.empty()) return Found{given->type, ""};
        const auto binding = binding_of(given->binding);
        const PortSpec* own = binding ? find_port(scope_.outputs, binding->port) : nullptr;
        return own != nullptr ? Found{own->type, ""} : Found{};
    }

    // What a binding leads to; nothing if it leads nowhere.
    std::optional<Found> find(const Binding& binding) const {
        if (binding.from == "jobs") {
            const auto source = by_name_.find(binding.step);
            if (source == by_name_.end()) return std::nullopt;
            return output_of(*source->second, binding.port);
        }
        const PortSpec* port =
            find_port(binding.from == "inputs" ? scope_.inputs : scope_.outputs, binding.port);
        if (port == nullptr) return std::nullopt;
        return Found{port->type.empty() ? kFolder : port->type, port->mode};
    }

    void settle_own(StepDraft& draft) {
        ComponentSpec& own = *draft.own;
        for (const InputSpec& input : draft.step.inputs) {
            PortSpec& port = own.inputs.emplace_back();
            port.name = input.name;
            port.mode = input.mode;
            const auto binding = input.type == "literal" ? binding_of(input.value) : std::nullopt;
            // A mapping around the binding says the type itself.
            const bool typed = std::ranges::find(asset_types(), input.value_type) != asset_types().end();
            if (binding && typed) {
                port.type = input.value_type;
            } else if (binding) {
                const Found found = find(*binding).value_or(Found{});
                port.type = found.type;
                port.mode = found.mode;
            } else if (input.type == "literal") {
                port.type = input.value_type;
                port.value = Document::string(input.value);
            } else {
                port.type = input.type;
            }
        }
        for (const OutputSpec& output : draft.step.outputs) {
            PortSpec& port = own.outputs.emplace_back();
            port.name = output.name;
            port.type = output.type;
            port.mode = output.mode;
            if (output.binding.empty() || output.has_settings) continue;
            const auto binding = binding_of(output.binding);
            const Found found = binding ? find(*binding).value_or(Found{}) : Found{};
            port.type = found.type;
            port.mode = found.mode;
        }
        check_own_texts(draft);
        draft.step.component = std::make_shared<const ComponentSpec>(own);
    }

    void check_own_texts(const StepDraft& draft) {
        const ComponentSpec& own = *draft.own;
        Fields fields(*draft.written, draft.path, reading_.problems);
        if (own.kind == "command") check_own_expressions(own, fields, "command", own.command);
        if (own.spark) check_own_expressions(own, fields, "args", own.spark->args);
        if (!own.parallel) return;
        check_own_expressions(own, fields, "input_data", own.parallel->input_data);
        if (!own.parallel->task) return;
        const ParallelTaskSpec& task = *own.parallel->task;
        for (const std::string& text : {task.program_arguments, task.append_row_to, task.command})
            check_own_expressions(own, fields, own.parallel->task->type == "command" ? "parallel" : "task",
                                  text);
    }

    void check_binding(const StepDraft& draft, std::string_view section, const std::string& name,
                       const std::string& text) {
        const auto binding = binding_of(text);
        if (!binding) return;
        if (section == "outputs" && binding->from != "outputs") {
            problem(draft, section, name, "must be bound to ${{parent.outputs.NAME}}");
            return;
        }
        if (section == "inputs" && binding->from == "outputs") {
            problem(draft, section, name,
                    "must be bound to ${{parent.inputs.NAME}} or ${{parent.jobs.STEP.outputs.NAME}}");
            return;
        }
        if (find(*binding)) return;
        if (binding->from != "jobs") {
            const auto names = names_of(binding->from == "inputs" ? scope_.inputs : scope_.outputs);
            problem(draft, section, name,
                    "'" + text + "' names nothing of this pipeline" +
                        (names.empty() ? "; it has none" : suggestion(binding->port, names)));
            return;
        }
        const auto source = by_name_.find(binding->step);
        if (source == by_name_.end()) {
            std::vector<std::string> names;
            for (const auto& [step, any] : by_name_) names.push_back(step);
            problem(draft, section, name,
                    "there is no step '" + binding->step + "'" + suggestion(binding->step, names));
            return;
        }
        std::vector<std::string> names;
        if (source->second->step.component) names = names_of(source->second->step.component->outputs);
        problem(draft, section, name,
                "step '" + binding->step + "' has no output '" + binding->port + "'" +
                    (names.empty() ? "" : suggestion(binding->port, names)));
    }

    // A step of a component that we can see must give what the component needs, and no more.
    void check_ports(StepDraft& draft) {
        const ComponentSpec& component = *draft.step.component;
        std::erase_if(draft.step.inputs, [&](const InputSpec& input) {
            const PortSpec* declared = find_port(component.inputs, input.name);
            if (declared == nullptr) {
                reading_.beyond_azure.push_back(
                    ignored_there(draft.path + ".inputs." + input.name, "the component has no such input"));
                return true;
            }
            if (input.type == "literal" && declared->is_literal() &&
                input.value.find("${{") == std::string::npos) {
                const std::string wrong = check_value(*declared, input.value);
                if (!wrong.empty()) problem(draft, "inputs", input.name, wrong);
            }
            return false;
        });
        for (const PortSpec& declared : component.inputs) {
            const bool given = std::ranges::find(draft.step.inputs, declared.name, &InputSpec::name) !=
                               draft.step.inputs.end();
            const bool searched = draft.step.sweep && std::ranges::find(draft.step.sweep->search_space,
                                                                        declared.name, &SearchSpec::name) !=
                                                          draft.step.sweep->search_space.end();
            if (given || searched || declared.is_optional() || declared.value) continue;
            problem(draft, "inputs", declared.name,
                    "is missing; the component needs this input of type " + declared.type);
        }
        for (const OutputSpec& output : draft.step.outputs) {
            if (find_port(component.outputs, output.name) != nullptr) continue;
            problem(
                draft, "outputs", output.name,
                "is not an output of the component" + suggestion(output.name, names_of(component.outputs)));
        }
    }

    void check(StepDraft& draft) {
        if (draft.step.type.empty()) return;
        for (const InputSpec& input : draft.step.inputs) {
            if (input.type == "literal") check_binding(draft, "inputs", input.name, input.value);
        }
        for (const OutputSpec& output : draft.step.outputs)
            check_binding(draft, "outputs", output.name, output.binding);
        if (draft.step.component && !draft.own && !draft.step.component->kind.empty()) check_ports(draft);
        if (draft.step.automl) check_automl(draft);
    }

    void check_automl(const StepDraft& draft) {
        for (const InputSpec& data : draft.step.automl->data) {
            const auto binding = binding_of(data.path);
            if (!binding || find(*binding)) continue;
            const Document* at = draft.written->find(data.name);
            reading_.problems.add(draft.path + "." + data.name, at != nullptr ? at->at : draft.written->at,
                                  "'" + data.path + "' names nothing of this pipeline");
        }
    }

    static std::vector<std::string> sources_of(const StepSpec& step) {
        std::vector<std::string> sources;
        const auto add = [&sources](const std::string& text) {
            const auto binding = binding_of(text);
            if (binding && binding->from == "jobs") sources.push_back(binding->step);
        };
        for (const InputSpec& input : step.inputs) add(input.value);
        if (step.automl) {
            for (const InputSpec& data : step.automl->data) add(data.path);
        }
        return sources;
    }

    // Takes away the steps that wait for nothing, again and again; what is left waits for itself.
    void check_circles() {
        std::map<std::string, std::size_t> waits;
        std::map<std::string, std::vector<std::string>> followers;
        std::vector<std::string> ready;
        for (const StepDraft& draft : drafts_) {
            std::size_t count = 0;
            for (const std::string& source : sources_of(draft.step)) {
                if (!by_name_.contains(source)) continue;
                followers[source].push_back(draft.step.name);
                ++count;
            }
            waits[draft.step.name] = count;
            if (count == 0) ready.push_back(draft.step.name);
        }
        while (!ready.empty()) {
            const std::string done = std::move(ready.back());
            ready.pop_back();
            for (const std::string& follower : followers[done]) {
                if (--waits[follower] == 0) ready.push_back(follower);
            }
        }
        std::vector<std::string> stuck;
        for (const StepDraft& draft : drafts_) {
            if (waits[draft.step.name] > 0) stuck.push_back(draft.step.name);
        }
        if (stuck.empty()) return;
        const StepDraft* first = by_name_.at(stuck.front());
        reading_.problems.add(first->path, first->written->at,
                              "waits for itself: " + listed(stuck) + " depend on each other in a circle");
    }

    std::vector<StepDraft>& drafts_;
    const PipelineScope& scope_;
    Reading& reading_;
    std::map<std::string, const StepDraft*> by_name_;
};

}  // namespace

std::optional<Binding> binding_of(std::string_view text) {
    text = trim(text);
    if (!text.starts_with("${{") || !text.ends_with("}}")) return std::nullopt;
    const auto parts = split(trim(text.substr(3, text.size() - 5)), '.');
    if (parts.size() < 3 || parts[0] != "parent") return std::nullopt;
    if (parts[1] == "jobs" && parts.size() == 5 && parts[3] == "outputs")
        return Binding{"jobs", std::string(parts[2]), std::string(parts[4])};
    if ((parts[1] == "inputs" || parts[1] == "outputs") && parts.size() == 3)
        return Binding{std::string(parts[1]), "", std::string(parts[2])};
    return std::nullopt;
}

std::vector<StepSpec> bind_steps(std::vector<StepDraft> drafts, const PipelineScope& scope,
                                 Reading& reading) {
    return Binder(drafts, scope, reading).bind();
}

}  // namespace lavant::spec
