-- The newest jobs of one user, for `@last`.
CREATE INDEX job_owner ON job_body (created_by, job);
