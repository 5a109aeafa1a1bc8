//! A whole Slurm on this machine for one test: its own key, ports and folders, one node that says it has
//! four CPUs. Everything that was started is stopped when it is dropped.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// How long anything may take before the test is given up.
const PATIENCE: Duration = Duration::from_secs(600);

/// CPUs that the node claims, so that as many tasks run at once on any machine.
pub(crate) const CPUS: usize = 4;

pub(crate) struct Slurm {
    folder: TempDir,
    /// In the order in which they were started.
    daemons: Vec<(&'static str, Child)>,
}

impl Slurm {
    /// Starts MUNGE, the controller and one node, and waits until the node is idle.
    pub(crate) fn start() -> Slurm {
        let folder = tempfile::Builder::new().prefix("slurm").tempdir().expect("a scratch folder");
        // MUNGE wants a socket that others could reach.
        set_mode(folder.path(), 0o755);
        let mut slurm = Slurm { folder, daemons: Vec::new() };
        slurm.configure();
        let at = |name: &str| slurm.folder.path().join(name).display().to_string();
        let munged = [
            "--foreground".to_owned(),
            "--force".to_owned(),
            format!("--key-file={}", at("munge.key")),
            format!("--socket={}", at("munge.socket")),
            format!("--pid-file={}", at("munged.pid")),
            format!("--seed-file={}", at("munge.seed")),
            format!("--log-file={}", at("munged.log")),
        ];
        let configuration = slurm.configuration().display().to_string();
        slurm.spawn("munged", &munged);
        slurm.wait("MUNGE's socket", |slurm| slurm.folder.path().join("munge.socket").exists());
        let own = ["-D".to_owned(), "-f".to_owned(), configuration.clone()];
        slurm.spawn("slurmctld", &own);
        slurm.wait("the controller", |slurm| {
            slurm.tool("scontrol", &["ping"]).is_ok_and(|said| said.contains(" is UP"))
        });
        slurm.spawn("slurmd", &[&own[..], &["-N".to_owned(), "node".to_owned()]].concat());
        slurm.wait("the node", |slurm| {
            slurm
                .tool("sinfo", &["--noheader", "--format=%T"])
                .is_ok_and(|said| said.trim() == "idle")
        });
        slurm
    }

    /// Where commands of Slurm find this one.
    pub(crate) fn configuration(&self) -> PathBuf {
        self.folder.path().join("slurm.conf")
    }

    fn configure(&self) {
        let folder = self.folder.path();
        for name in ["state", "spool"] {
            fs::create_dir(folder.join(name)).expect("a folder");
        }
        // A key that no other MUNGE has; it guards nothing but this test.
        let mut key = vec![0; 128];
        let mut random = fs::File::open("/dev/urandom").expect("/dev/urandom");
        std::io::Read::read_exact(&mut random, &mut key).expect("random bytes");
        fs::write(folder.join("munge.key"), key).expect("a file");
        set_mode(&folder.join("munge.key"), 0o600);
        let host = fs::read_to_string("/proc/sys/kernel/hostname").expect("a host name");
        let host = host.trim().split('.').next().expect("a host name").to_owned();
        let user = said(Command::new("id").arg("-un")).expect("a user");
        let (user, shown) = (user.trim(), folder.display());
        let (controller, node) = free_ports();
        let text = format!(
            "ClusterName=test\n\
             SlurmctldHost={host}(127.0.0.1)\n\
             SlurmctldPort={controller}\n\
             SlurmdPort={node}\n\
             SlurmUser={user}\n\
             SlurmdUser={user}\n\
             AuthType=auth/munge\n\
             AuthInfo=socket={shown}/munge.socket\n\
             CredType=cred/munge\n\
             StateSaveLocation={shown}/state\n\
             SlurmdSpoolDir={shown}/spool\n\
             SlurmctldPidFile={shown}/slurmctld.pid\n\
             SlurmdPidFile={shown}/slurmd.pid\n\
             SlurmctldLogFile={shown}/slurmctld.log\n\
             SlurmdLogFile={shown}/slurmd.log\n\
             ProctrackType=proctrack/linuxproc\n\
             TaskPlugin=task/none\n\
             JobAcctGatherType=jobacct_gather/none\n\
             AccountingStorageType=accounting_storage/none\n\
             MpiDefault=none\n\
             SwitchType=switch/none\n\
             SelectType=select/cons_tres\n\
             SelectTypeParameters=CR_CPU\n\
             SchedulerType=sched/backfill\n\
             SchedulerParameters=sched_interval=1,sched_min_interval=100000,bf_interval=1,batch_sched_delay=0\n\
             ReturnToService=2\n\
             SlurmdParameters=config_overrides\n\
             KillWait=2\n\
             MinJobAge=3600\n\
             NodeName=node NodeHostname={host} NodeAddr=127.0.0.1 CPUs={CPUS} RealMemory=4096 State=UNKNOWN\n\
             PartitionName=all Nodes=node Default=YES MaxTime=INFINITE State=UP\n"
        );
        fs::write(self.configuration(), text).expect("a file");
    }

    fn spawn(&mut self, name: &'static str, arguments: &[String]) {
        let log = fs::File::create(self.folder.path().join(format!("{name}.out"))).expect("a file");
        let child = Command::new(program(name))
            .args(arguments)
            .env("SLURM_CONF", self.configuration())
            .stdin(Stdio::null())
            .stdout(log.try_clone().expect("a file"))
            .stderr(log)
            .spawn()
            .unwrap_or_else(|e| {
                panic!("{name} cannot be started: {e}; `cargo xtask cluster` installs it")
            });
        self.daemons.push((name, child));
    }

    /// Waits until something holds; when a daemon ends or patience does, shows what the daemons said.
    pub(crate) fn wait(&mut self, what: &str, mut holds: impl FnMut(&Slurm) -> bool) {
        let began = Instant::now();
        while !holds(self) {
            let ended = self.daemons.iter_mut().find_map(|(name, child)| {
                child.try_wait().expect("a child can be asked").map(|status| (*name, status))
            });
            if let Some((name, status)) = ended {
                panic!("{name} ended ({status}) before {what} was there{}", self.logs());
            }
            assert!(began.elapsed() < PATIENCE, "no {what} in {PATIENCE:?}{}", self.logs());
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    fn logs(&self) -> String {
        let mut text = String::new();
        for (name, _) in &self.daemons {
            for end in ["out", "log"] {
                let said = fs::read(self.folder.path().join(format!("{name}.{end}")));
                let said = String::from_utf8_lossy(&said.unwrap_or_default()).into_owned();
                let lines: Vec<&str> = said.lines().collect();
                let last = lines[lines.len().saturating_sub(25)..].join("\n");
                text.push_str(&format!("\n--- {name}.{end}\n{last}"));
            }
        }
        text
    }

    /// Runs a command of Slurm.
    pub(crate) fn tool(&self, name: &str, arguments: &[&str]) -> Result<String, String> {
        said(Command::new(name).args(arguments).env("SLURM_CONF", self.configuration()))
    }

    /// Jobs and tasks in the queue.
    pub(crate) fn queue(&self) -> Vec<String> {
        let said = self.tool("squeue", &["--noheader", "--array", "--format=%i"]).expect("a queue");
        said.lines().map(|line| line.trim().to_owned()).collect()
    }

    /// Waits until nothing is left to run.
    pub(crate) fn wait_for_all_jobs(&mut self) {
        self.wait("end of all jobs", |slurm| slurm.queue().is_empty());
    }

    /// How a job ended, such as COMPLETED; of an array, each of its tasks.
    pub(crate) fn states(&self, job: &str) -> Vec<String> {
        let said = self.tool("scontrol", &["show", "job", job]).expect("a job");
        let states = said.split_whitespace().filter_map(|word| word.strip_prefix("JobState="));
        states.map(str::to_owned).collect()
    }

    /// The number of the `trustvb` process that works on a task of this Slurm's arrays.
    pub(crate) fn process_of_task(&self, task: u32) -> Option<u32> {
        let wanted = [
            format!("SLURM_ARRAY_TASK_ID={task}").into_bytes(),
            format!("SLURM_CONF={}", self.configuration().display()).into_bytes(),
        ];
        fs::read_dir("/proc").expect("/proc").filter_map(Result::ok).find_map(|entry| {
            let process: u32 = entry.file_name().to_str()?.parse().ok()?;
            let name = fs::read_to_string(entry.path().join("comm")).ok()?;
            let environment = fs::read(entry.path().join("environ")).ok()?;
            let has = |variable: &Vec<u8>| environment.split(|b| *b == 0).any(|v| v == variable);
            (name.trim() == "trustvb" && wanted.iter().all(has)).then_some(process)
        })
    }
}

impl Drop for Slurm {
    /// Ends jobs first, so that none outlives its node, then the daemons in reverse order. A failing
    /// test must get here too, so nothing here may panic.
    fn drop(&mut self) {
        if self.daemons.len() == 3 {
            if let Ok(jobs) = self.tool("squeue", &["--noheader", "--format=%A"]) {
                for job in jobs.split_whitespace() {
                    let _ = self.tool("scancel", &["--full", job]);
                }
            }
            let began = Instant::now();
            while began.elapsed() < Duration::from_secs(30)
                && self.tool("squeue", &["--noheader"]).is_ok_and(|left| !left.trim().is_empty())
            {
                std::thread::sleep(Duration::from_millis(100));
            }
        }
        for (name, child) in self.daemons.iter_mut().rev() {
            let _ = Command::new("kill").args(["-TERM", &child.id().to_string()]).status();
            let began = Instant::now();
            while matches!(child.try_wait(), Ok(None)) {
                if began.elapsed() > Duration::from_secs(15) {
                    eprintln!("{name} did not end when it was asked to; killing it");
                    let _ = child.kill();
                    let _ = child.wait();
                    break;
                }
                std::thread::sleep(Duration::from_millis(50));
            }
        }
    }
}

/// Daemons are not on the path of every user.
fn program(name: &str) -> PathBuf {
    let usual = Path::new("/usr/sbin").join(name);
    if usual.exists() { usual } else { PathBuf::from(name) }
}

/// What a command prints, or how it failed.
fn said(command: &mut Command) -> Result<String, String> {
    let output = command.stdin(Stdio::null()).output().map_err(|e| e.to_string())?;
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    if output.status.success() { Ok(text(output.stdout)) } else { Err(text(output.stderr)) }
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("it is ours");
}

/// Two ports that nobody listens on.
fn free_ports() -> (u16, u16) {
    let (a, b) = (listener(), listener());
    let port = |l: &TcpListener| l.local_addr().expect("an address").port();
    (port(&a), port(&b))
}

fn listener() -> TcpListener {
    TcpListener::bind("127.0.0.1:0").expect("a free port")
}
