#include "core/spec/automl_shapes.h"

#include <map>

namespace lavant::spec {
namespace {

using K = Shape::Kind;
using Words = std::vector<std::string>;

Words joined(Words first, const Words& second) {
    first.insert(first.end(), second.begin(), second.end());
    return first;
}

Shapes joined(Shapes first, const Shapes& second) {
    first.insert(first.end(), second.begin(), second.end());
    return first;
}

const Words kRegressors = {
    "elastic_net", "gradient_boosting", "decision_tree",        "knn",       "lasso_lars",
    "sgd",         "random_forest",     "extreme_random_trees", "light_gbm", "xg_boost_regressor"};
const Words kClassifiers = {"logistic_regression",
                            "sgd",
                            "multinomial_naive_bayes",
                            "bernoulli_naive_bayes",
                            "svm",
                            "linear_svm",
                            "knn",
                            "decision_tree",
                            "random_forest",
                            "extreme_random_trees",
                            "light_gbm",
                            "gradient_boosting",
                            "xg_boost_classifier"};
const Words kForecasters = joined({"auto_arima", "prophet", "naive", "seasonal_naive", "average",
                                   "seasonal_average", "exponential_smoothing", "arimax", "tcn_forecaster"},
                                  kRegressors);

Shapes training_of(const Words& algorithms) {
    return {{"enable_dnn_training", K::Flag},
            {"enable_model_explainability", K::Flag},
            {"enable_onnx_compatible_models", K::Flag},
            {"enable_stack_ensemble", K::Flag},
            {"enable_vote_ensemble", K::Flag},
            {"ensemble_model_download_timeout_minutes", K::Whole},
            {"stack_ensemble_settings", K::Any},
            {"training_mode", K::Word, {"auto", "distributed", "non_distributed"}},
            {"allowed_training_algorithms", K::Words, algorithms},
            {"blocked_training_algorithms", K::Words, algorithms}};
}

const Words kSchedulers = {"none",
                           "linear",
                           "cosine",
                           "cosine_with_restarts",
                           "polynomial",
                           "constant",
                           "constant_with_warmup",
                           "warmup_cosine",
                           "step"};

const Shapes kTextParameters = {{"gradient_accumulation_steps", K::Whole},
                                {"learning_rate", K::Number},
                                {"learning_rate_scheduler", K::Word, kSchedulers},
                                {"model_name", K::Text},
                                {"number_of_epochs", K::Whole},
                                {"training_batch_size", K::Whole},
                                {"validation_batch_size", K::Whole},
                                {"warmup_ratio", K::Number},
                                {"weight_decay", K::Number}};

const Shapes kImageParameters = {{"advanced_settings", K::Text},
                                 {"ams_gradient", K::Flag},
                                 {"augmentations", K::Text},
                                 {"checkpoint_frequency", K::Whole},
                                 {"checkpoint_run_id", K::Text},
                                 {"distributed", K::Flag},
                                 {"early_stopping", K::Flag},
                                 {"early_stopping_delay", K::Whole},
                                 {"early_stopping_patience", K::Whole},
                                 {"enable_onnx_normalization", K::Flag},
                                 {"evaluation_frequency", K::Whole},
                                 {"gradient_accumulation_step", K::Whole},
                                 {"layers_to_freeze", K::Whole},
                                 {"learning_rate", K::Number},
                                 {"learning_rate_scheduler", K::Word, kSchedulers},
                                 {"model_name", K::Text},
                                 {"momentum", K::Number},
                                 {"nesterov", K::Flag},
                                 {"number_of_epochs", K::Whole},
                                 {"number_of_workers", K::Whole},
                                 {"optimizer", K::Word, {"none", "sgd", "adam", "adamw"}},
                                 {"random_seed", K::Whole},
                                 {"step_lr_gamma", K::Number},
                                 {"step_lr_step_size", K::Whole},
                                 {"training_batch_size", K::Whole},
                                 {"validation_batch_size", K::Whole},
                                 {"warmup_cosine_lr_cycles", K::Number},
                                 {"warmup_cosine_lr_warmup_epochs", K::Whole},
                                 {"weight_decay", K::Number}};
const Shapes kClassificationParameters = joined(kImageParameters, {{"training_crop_size", K::Whole},
                                                                   {"validation_crop_size", K::Whole},
                                                                   {"validation_resize_size", K::Whole},
                                                                   {"weighted_loss", K::Whole}});
const Shapes kDetectionParameters =
    joined(kImageParameters, {{"box_detections_per_image", K::Whole},
                              {"box_score_threshold", K::Number},
                              {"image_size", K::Whole},
                              {"log_training_metrics", K::Text},
                              {"log_validation_loss", K::Text},
                              {"max_size", K::Whole},
                              {"min_size", K::Whole},
                              {"model_size", K::Word, {"none", "small", "medium", "large", "extra_large"}},
                              {"multi_scale", K::Flag},
                              {"nms_iou_threshold", K::Number},
                              {"tile_grid_size", K::Text},
                              {"tile_overlap_ratio", K::Number},
                              {"tile_predictions_nms_threshold", K::Number},
                              {"validation_iou_threshold", K::Number},
                              {"validation_metric_type", K::Word, {"none", "coco", "voc", "coco_voc"}}});

}  // namespace

AutoMlFamily automl_family(std::string_view task) {
    if (task.starts_with("text_")) return AutoMlFamily::Text;
    return task.starts_with("image_") ? AutoMlFamily::Image : AutoMlFamily::Table;
}

const Words& automl_tasks() {
    static const Words tasks = {"classification",
                                "regression",
                                "forecasting",
                                "image_classification",
                                "image_classification_multilabel",
                                "image_object_detection",
                                "image_instance_segmentation",
                                "text_classification",
                                "text_classification_multilabel",
                                "text_ner"};
    return tasks;
}

const Words& primary_metrics(const std::string& task) {
    static const Words classes = {"accuracy", "auc_weighted", "norm_macro_recall",
                                  "average_precision_score_weighted", "precision_score_weighted"};
    static const Words numbers = {"normalized_root_mean_squared_error", "normalized_mean_absolute_error",
                                  "r2_score", "spearman_correlation"};
    static const Words labels = joined(classes, {"iou"});
    static const Words boxes = {"mean_average_precision"};
    if (task == "regression" || task == "forecasting") return numbers;
    if (task.ends_with("_multilabel")) return labels;
    if (task == "image_object_detection" || task == "image_instance_segmentation") return boxes;
    return classes;
}

const Shapes& limit_shapes(AutoMlFamily family) {
    static const Shapes image = {
        {"max_concurrent_trials", K::Whole}, {"max_trials", K::Whole}, {"timeout_minutes", K::Whole}};
    static const Shapes text = joined(image, {{"max_nodes", K::Whole}, {"trial_timeout_minutes", K::Whole}});
    static const Shapes table = joined(text, {{"enable_early_termination", K::Flag},
                                              {"exit_score", K::Number},
                                              {"max_cores_per_trial", K::Whole}});
    if (family == AutoMlFamily::Image) return image;
    return family == AutoMlFamily::Text ? text : table;
}

const Shapes& featurization_shapes(AutoMlFamily family) {
    static const Words transformers = {
        "text_target_encoder", "one_hot_encoder",     "cat_target_encoder", "tf_idf",
        "wo_e_target_encoder", "label_encoder",       "word_embedding",     "naive_bayes",
        "count_vectorizer",    "hash_one_hot_encoder"};
    static const Shapes text = {{"dataset_language", K::Text}};
    static const Shapes table = joined(text, {{"mode", K::Word, {"auto", "custom", "off"}},
                                              {"blocked_transformers", K::Words, transformers},
                                              {"column_name_and_types", K::Texted},
                                              {"transformer_params", K::Any},
                                              {"enable_dnn_featurization", K::Flag}});
    return family == AutoMlFamily::Table ? table : text;
}

const Shapes& forecasting_shapes() {
    static const Shapes shapes = {
        {"country_or_region_for_holidays", K::Text},
        {"cv_step_size", K::Whole},
        {"forecast_horizon", K::WholeOrAuto},
        {"target_lags", K::WholesOrAuto},
        {"target_rolling_window_size", K::WholeOrAuto},
        {"time_column_name", K::Text},
        {"time_series_id_column_names", K::Texts},
        {"frequency", K::Text},
        {"feature_lags", K::Word, {"none", "auto"}},
        {"seasonality", K::WholeOrAuto},
        {"short_series_handling_config", K::Word, {"none", "auto", "pad", "drop"}},
        {"use_stl", K::Word, {"none", "season", "season_trend"}},
        {"target_aggregate_function", K::Word, {"none", "sum", "max", "min", "mean"}},
        {"features_unknown_at_forecast_time", K::Texts}};
    return shapes;
}

const Shapes& training_shapes(const std::string& task) {
    static const Shapes classes = training_of(kClassifiers);
    static const Shapes numbers = training_of(kRegressors);
    static const Shapes forecasts = training_of(kForecasters);
    if (task == "forecasting") return forecasts;
    return task == "regression" ? numbers : classes;
}

const Shapes& training_parameter_shapes(const std::string& task) {
    if (automl_family(task) == AutoMlFamily::Text) return kTextParameters;
    return task.starts_with("image_classification") ? kClassificationParameters : kDetectionParameters;
}

}  // namespace lavant::spec
