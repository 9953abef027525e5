// A stand-in for the server in Go: net/http with TLS and SQLite, for `PUT job` and `GET job`.
//
// It does the work a service of this kind cannot leave out: checks the bearer key by its digest (remembered, as the server
// does), parses and validates the body, writes the same rows of the same tables in one durable transaction per request, and
// answers with the same JSON. It schedules nothing and resolves no asset, so it does less than the server.
//
//	peer DATABASE CERTIFICATE KEY      prints its address; the database is a copy of one that the server made
package main

import (
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"regexp"
	"strings"
	"sync"
	"time"

	_ "github.com/mattn/go-sqlite3"
)

const workspaceKey = "default"

type caller struct{ User, Role string }

type server struct {
	writes, reads *sql.DB
	insertJob, insertBody, insertTag, insertEvent,
	selectJob, selectKey *sql.Stmt
	writing sync.Mutex
	known   sync.Map // digest -> caller
	origin  string
}

type properties struct {
	JobType       string            `json:"jobType"`
	Command       string            `json:"command"`
	EnvironmentID string            `json:"environmentId"`
	ComputeID     string            `json:"computeId"`
	Experiment    string            `json:"experimentName"`
	DisplayName   string            `json:"displayName"`
	Description   string            `json:"description"`
	Tags          map[string]string `json:"tags"`
	Archived      bool              `json:"isArchived"`
	Resources     struct {
		Instances    *int   `json:"instanceCount"`
		InstanceType string `json:"instanceType"`
	} `json:"resources"`
}

type body struct {
	Properties json.RawMessage `json:"properties"`
}

var plainName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,255}$`)

func fail(w http.ResponseWriter, status int, code, message string) {
	text, _ := json.Marshal(map[string]any{"error": map[string]any{"code": code, "message": message, "details": []any{}}})
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	w.Write(text)
}

func (s *server) check(r *http.Request) (caller, bool) {
	header := r.Header.Get("Authorization")
	if !strings.HasPrefix(header, "Bearer ") {
		return caller{}, false
	}
	digest := sha256.Sum256([]byte(header[7:]))
	if found, ok := s.known.Load(digest); ok {
		return found.(caller), true
	}
	var text string
	if s.selectKey.QueryRow(hex.EncodeToString(digest[:])).Scan(&text) != nil {
		return caller{}, false
	}
	var one caller
	if json.Unmarshal([]byte(text), &one) != nil {
		return caller{}, false
	}
	s.known.Store(digest, one)
	return one, true
}

type shown struct {
	id, createdBy, display, description, stored string
	submitted                                   int64
	instances                                   int
	tags                                        map[string]string
	archived                                    bool
}

func (s *server) render(name string, job shown) []byte {
	created := time.UnixMicro(job.submitted).UTC().Format("2006-01-02T15:04:05.000000Z")
	inner := map[string]json.RawMessage{}
	json.Unmarshal([]byte(job.stored), &inner)
	put := func(key string, value any) { inner[key], _ = json.Marshal(value) }
	put("status", "Queued")
	put("displayName", job.display)
	put("tags", job.tags)
	put("isArchived", job.archived)
	put("lavant", map[string]any{"attempt": 1, "instances": job.instances, "submittedAt": created})
	put("services", map[string]any{"Studio": map[string]string{"jobServiceType": "Studio", "endpoint": s.origin + "/studio?job=" + name}})
	text, _ := json.Marshal(map[string]any{
		"id": job.id, "name": name, "type": "Microsoft.MachineLearningServices/workspaces/jobs",
		"systemData": map[string]string{"createdAt": created, "createdBy": job.createdBy, "createdByType": "User", "lastModifiedAt": created},
		"properties": inner})
	return text
}

func (s *server) put(w http.ResponseWriter, r *http.Request) {
	who, ok := s.check(r)
	if !ok {
		fail(w, 401, "Unauthorized", "this needs a credential")
		return
	}
	if who.Role == "reader" {
		fail(w, 403, "Forbidden", "this needs the role contributor")
		return
	}
	name := r.PathValue("name")
	text, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 8<<20))
	var given body
	var parsed properties
	stored := map[string]json.RawMessage{}
	if err != nil || json.Unmarshal(text, &given) != nil || json.Unmarshal(given.Properties, &parsed) != nil ||
		json.Unmarshal(given.Properties, &stored) != nil {
		fail(w, 400, "BadRequest", "the body is not a job")
		return
	}
	instances := 1
	if parsed.Resources.Instances != nil {
		instances = *parsed.Resources.Instances
	}
	if !plainName.MatchString(name) || parsed.JobType != "Command" || parsed.Command == "" || parsed.EnvironmentID == "" || instances < 1 {
		fail(w, 400, "BadRequest", "the job is not valid")
		return
	}
	for _, key := range []string{"tags", "displayName", "description", "isArchived", "status"} {
		delete(stored, key)
	}
	for _, key := range []string{"properties", "inputs", "outputs", "environmentVariables", "services"} {
		if _, there := stored[key]; !there {
			stored[key] = json.RawMessage("{}")
		}
	}
	if parsed.Experiment == "" {
		parsed.Experiment = "Default"
		stored["experimentName"] = json.RawMessage(`"Default"`)
	}
	if parsed.DisplayName == "" {
		parsed.DisplayName = name
	}
	if parsed.Tags == nil {
		parsed.Tags = map[string]string{}
	}
	kept, _ := json.Marshal(stored)
	launch, _ := json.Marshal(map[string]any{"workspace": workspaceKey, "job_name": name, "command": parsed.Command, "user": who.User,
		"environment": parsed.EnvironmentID, "experiment_name": parsed.Experiment})
	now := time.Now().UnixMicro()
	if err := s.store(name, parsed, instances, who, kept, launch, now); err != nil {
		fail(w, 409, "Conflict", err.Error())
		return
	}
	answer := s.render(name, shown{r.URL.Path, who.User, parsed.DisplayName, parsed.Description, string(kept), now, instances, parsed.Tags, parsed.Archived})
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(201)
	w.Write(answer)
}

func (s *server) store(name string, parsed properties, instances int, who caller, kept, launch []byte, now int64) error {
	s.writing.Lock()
	defer s.writing.Unlock()
	tx, err := s.writes.Begin()
	if err != nil {
		return err
	}
	defer tx.Rollback()
	made, err := tx.Stmt(s.insertJob).Exec(workspaceKey, name, parsed.Experiment, instances, now, parsed.Archived)
	if err != nil {
		return err
	}
	id, _ := made.LastInsertId()
	if _, err = tx.Stmt(s.insertBody).Exec(id, who.User, parsed.DisplayName, parsed.Description, string(kept), launch); err != nil {
		return err
	}
	for key, value := range parsed.Tags {
		if _, err = tx.Stmt(s.insertTag).Exec(id, key, value, workspaceKey); err != nil {
			return err
		}
	}
	for _, what := range []string{"Submitted", "Queued"} {
		if _, err = tx.Stmt(s.insertEvent).Exec(now, id, workspaceKey, name, what); err != nil {
			return err
		}
	}
	return tx.Commit()
}

func (s *server) get(w http.ResponseWriter, r *http.Request) {
	if _, ok := s.check(r); !ok {
		fail(w, 401, "Unauthorized", "this needs a credential")
		return
	}
	name := r.PathValue("name")
	job := shown{id: r.URL.Path, tags: map[string]string{}}
	var tags string
	err := s.selectJob.QueryRow(workspaceKey, name).Scan(&job.submitted, &job.instances, &job.archived, &job.createdBy, &job.display,
		&job.description, &job.stored, &tags)
	if err != nil {
		fail(w, 404, "ResourceNotFound", "there is no job '"+name+"'")
		return
	}
	json.Unmarshal([]byte(tags), &job.tags)
	w.Header().Set("Content-Type", "application/json")
	w.Write(s.render(name, job))
}

func open(path string, connections int) *sql.DB {
	database, err := sql.Open("sqlite3", "file:"+path+"?_journal_mode=WAL&_synchronous=FULL&_busy_timeout=10000&_foreign_keys=on")
	if err != nil {
		log.Fatal(err)
	}
	database.SetMaxOpenConns(connections)
	database.SetMaxIdleConns(connections)
	return database
}

func prepare(database *sql.DB, text string) *sql.Stmt {
	made, err := database.Prepare(text)
	if err != nil {
		log.Fatal(err, ": ", text)
	}
	return made
}

func main() {
	s := &server{writes: open(os.Args[1], 1), reads: open(os.Args[1], 4)}
	s.insertJob = prepare(s.writes, `INSERT INTO job (version, status, pool, priority, attempt, retries_used, canceled_by, cpu_micros,
		memory_peak_bytes, wall_micros, warning, workspace, name, experiment, instances, submitted_at, archived)
		VALUES (1, 0, 0, 0, 1, 0, '', 0, 0, 0, '', ?, ?, ?, ?, ?, ?)`)
	s.insertBody = prepare(s.writes, `INSERT INTO job_body (job, kind, created_by, display_name, description, properties, launch)
		VALUES (?, 'command', ?, ?, ?, ?, ?)`)
	s.insertTag = prepare(s.writes, `INSERT INTO job_tag (job, key, value, workspace) VALUES (?, ?, ?, ?)`)
	s.insertEvent = prepare(s.writes, `INSERT INTO event (at, job, workspace, kind, subject, what, detail) VALUES (?, ?, ?, 'job', ?, ?, '')`)
	s.selectJob = prepare(s.reads, `SELECT j.submitted_at, j.instances, j.archived, b.created_by, b.display_name, b.description, b.properties,
		(SELECT json_group_object(key, value) FROM job_tag t WHERE t.job = j.id)
		FROM job j JOIN job_body b ON b.job = j.id WHERE j.workspace = ? AND j.name = ?`)
	s.selectKey = prepare(s.reads, `SELECT body FROM asset WHERE hash = ?`)
	pattern := "/subscriptions/{s}/resourceGroups/{g}/providers/Microsoft.MachineLearningServices/workspaces/{w}/jobs/{name}"
	routes := http.NewServeMux()
	routes.HandleFunc("PUT "+pattern, s.put)
	routes.HandleFunc("GET "+pattern, s.get)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	s.origin = "https://" + listener.Addr().String()
	fmt.Println(s.origin)
	log.Fatal((&http.Server{Handler: routes, ErrorLog: log.New(io.Discard, "", 0)}).ServeTLS(listener, os.Args[2], os.Args[3]))
}
