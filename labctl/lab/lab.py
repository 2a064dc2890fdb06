"""A lab: one running instance, found by its name."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from labctl.artifacts import ArtifactStore
from labctl.aws.endpoints import aws_endpoints
from labctl.config.aws import AwsProfile
from labctl.config.endpoints import Endpoints
from labctl.config.model import OPTIONAL, LabConfig, find_project, lab_file
from labctl.config.promoted import load_promoted, outputs_path
from labctl.errors import ExitCode, LabError
from labctl.home.secrets import load_passwords
from labctl.home.state import LabState, lab_names
from labctl.lab.ports import assign_ports
from labctl.runtimes import Runtime, open_runtime
from labctl.services import PASSWORDS, Context, Service, load_config, services_of
from labctl.sinks import Sink, sink_files, used_sinks
from labctl.tables import LabTable, full_name, lab_tables

__all__ = ["Lab"]


@dataclass(frozen=True)
class Lab:
    """A lab's definition (`lab.toml`), its state folder, and the runtime of its services."""

    project: Path
    config: LabConfig
    profile: str
    state: LabState
    even_damaged: bool = False
    """Whether to do without what cannot be read in the state folder, to stop and remove the lab."""

    @classmethod
    def find(
        cls,
        *,
        name: str | None = None,
        profile: str | None = None,
        project: Path | None = None,
        even_damaged: bool = False,
    ) -> Lab:
        """The lab `name` of the project around `project` (default: here), running or not.

        Raises LabError when its lab.json cannot be read, unless it may be `even_damaged`: then the
        lab can be stopped and removed, and nothing else.
        """
        project = find_project(project)
        if name is not None and not LabConfig.valid_name(name):
            raise LabError(
                f"{name!r} cannot name a lab",
                hint="lower-case letters, digits and dashes, a letter first, 30 at most",
                exit_code=ExitCode.USAGE,
            )
        file = lab_file(project, name)
        config = load_config(file)
        state = LabState(name or config.name)
        # A lab stays with the profile it was made with, until another is named.
        recorded = state.load_if_readable() or {} if even_damaged else state.load()
        chosen = profile or recorded.get("profile") or config.profile
        if chosen not in config.profiles:
            raise LabError(
                f"There is no profile {chosen!r} in {file}",
                hint=f"defined: {', '.join(sorted(config.profiles))}",
                exit_code=ExitCode.USAGE,
            )
        config = config.switching_on(recorded.get("switched_on", ()))
        return cls(project, config, chosen, state, even_damaged)

    @property
    def name(self) -> str:
        return self.state.name

    @property
    def services(self) -> tuple[Service, ...]:
        """Those that its sources need, the pipeline's, and what `lab.toml` switches on."""
        return services_of(self.config)

    def service(self, name: str) -> Service:
        """The service of that name; LabError when there is none."""
        for service in self.services:
            if service.name == name:
                return service
        known = f"services: {', '.join(s.name for s in self.services)}"
        off = f"this lab has none: write [{name}] with enabled = true into its file; {known}"
        raise LabError(
            f"There is no service {name!r}",
            hint=off if name in OPTIONAL else known,
            exit_code=ExitCode.USAGE,
        )

    @cached_property
    def tables(self) -> list[LabTable]:
        """The tables that are captured. Raises LabError when a properties file is not usable."""
        return lab_tables(self.project, self.config)

    @cached_property
    def sinks(self) -> list[Sink]:
        """The sinks that the tables' topics go into. Raises LabError for an unusable file."""
        return used_sinks(sink_files(self.project), self.tables)

    def table(self, name: str) -> LabTable:
        """The table of that name, by its short name where it is unique.

        Raises LabError (USAGE) naming those there are.
        """
        by_name = {table.name: table for table in self.tables}
        return by_name[full_name(name, by_name, place=" in this lab")]

    def table_of(self, source_name: str) -> LabTable:
        """The table, or the first of those, that a source's table of that name goes to."""
        for table in self.tables:
            if table.source_name == source_name:
                return table
        return self.table(source_name)

    @cached_property
    def ports(self) -> dict[str, dict[str, int]]:
        """Ports by service and endpoint; chosen once, then kept in the state folder."""
        self.require_here()
        recorded = self.state.load_if_readable() or {}
        return assign_ports(
            self.services, self.config, recorded.get("ports", {}), self._others_ports()
        )

    def forget_ports(self) -> None:
        """Have ports that are not kept yet chosen again, by what other labs have now."""
        for known in ("ports", "runtime", "endpoints"):
            self.__dict__.pop(known, None)

    @cached_property
    def passwords(self) -> dict[str, str]:
        self.require_here()
        try:
            return load_passwords(self.state.secrets, PASSWORDS)
        except LabError:
            if self.even_damaged:
                return dict.fromkeys(PASSWORDS, "")
            raise

    @cached_property
    def endpoints(self) -> Endpoints:
        """How to reach the services. Raises LabError when the lab was never started."""
        if isinstance(profile := self.config.profiles[self.profile], AwsProfile):
            return aws_endpoints(
                self.config, profile, load_promoted(outputs_path(self.project, self.profile))
            )
        self.state.require()
        return self.runtime.endpoints()

    @cached_property
    def runtime(self) -> Runtime:
        """What runs this lab's services. LabError (USAGE) when they are not on this machine."""
        self.require_here()
        return open_runtime(
            self.project,
            self.config,
            self.profile,
            self.state,
            self.artifacts,
            self.ports,
            self.passwords,
        )

    @cached_property
    def artifacts(self) -> ArtifactStore:
        return ArtifactStore()

    @property
    def running(self) -> bool:
        return self.state.exists and self.runtime.running()

    def require_running(self) -> Lab:
        """This lab, or a LabError that says how to start it.

        Of a promoted lab only that its addresses are known: whether they answer, they tell.
        """
        if isinstance(self.config.profiles[self.profile], AwsProfile):
            _ = self.endpoints
            return self
        self.state.require()
        if not self.running:
            raise LabError(
                f"Lab {self.name!r} is not running",
                hint="start it with `labctl up`",
                exit_code=ExitCode.NOT_READY,
            )
        return self

    def context(self, service: Service) -> Context:
        """What `service` may know of this lab."""
        return Context(
            service=service,
            lab=self.name,
            project=self.project,
            config=self.config,
            data=self.state.data(service.name),
            conf=self.state.conf(service.name),
            temp=self.state.temp(service.name),
            secrets=self.state.secrets,
            ports=self.ports[service.name],
            passwords=self.passwords,
            endpoints=self.endpoints,
            artifacts=self.artifacts,
            build=lambda: self.runtime.build(service),
        )

    def require_here(self) -> Lab:
        """This lab; LabError (USAGE) when its profile has no processes on this machine."""
        if isinstance(self.config.profiles[self.profile], AwsProfile):
            raise LabError(
                f"Profile {self.profile!r} has no services on this machine",
                hint="labctl promote status, apply and destroy are its commands",
                exit_code=ExitCode.USAGE,
            )
        return self

    def _others_ports(self) -> set[int]:
        """Ports that other labs hold, running or not."""
        others = (LabState(name) for name in lab_names() if name != self.name)
        return {
            port
            for other in others
            for ports in (other.load_if_readable() or {}).get("ports", {}).values()
            for port in ports.values()
        }
