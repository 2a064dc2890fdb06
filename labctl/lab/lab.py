"""A lab: one running instance, found by its name."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from labctl.artifacts import ArtifactStore
from labctl.aws.aws_endpoints import aws_endpoints
from labctl.config.aws import AwsProfile
from labctl.config.endpoints import Endpoints
from labctl.config.lab_config import OPTIONAL, LabConfig, find_project, lab_file
from labctl.config.promoted import load_promoted, outputs_path
from labctl.errors import ExitCode, LabError
from labctl.lab.lifecycle.ports import assign_ports
from labctl.runtimes import Runtime, open_runtime
from labctl.services.lab_services import PASSWORDS, load_config, services_of
from labctl.services.service import Context, Service
from labctl.sinks import Sink, sink_files, used_sinks
from labctl.state.lab_secrets import load_passwords
from labctl.state.lab_state import LabState, lab_names
from labctl.tables import LabTable, full_name, lab_tables

__all__ = ["Lab", "remarks_on_forms"]


@dataclass(frozen=True)
class Lab:
    """A lab's definition (`lab.toml`), its state folder, and the runtime of its services."""

    project: Path
    config: LabConfig
    profile: str
    state: LabState
    formless: tuple[str, ...] = ()
    """The user's own services that have no form for the profile's runtime, and are left out."""
    even_damaged: bool = False
    """True to ignore unreadable files in the state folder, to stop and remove the lab."""

    @classmethod
    def find(
        cls,
        *,
        name: str | None = None,
        profile: str | None = None,
        project: Path | None = None,
        even_damaged: bool = False,
    ) -> Lab:
        """Return the lab `name` of the project around `project` (default: here), running or not.

        Raises LabError if its lab.json cannot be read, unless `even_damaged` is set: then the lab
        can only be stopped and removed.
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
        # A lab keeps the profile that it was created with, until another is named.
        recorded = state.load_if_readable() or {} if even_damaged else state.load()
        chosen = profile or recorded.get("profile") or config.profile
        if chosen not in config.profiles:
            raise LabError(
                f"There is no profile {chosen!r} in {file}",
                hint=f"defined: {', '.join(sorted(config.profiles))}",
                exit_code=ExitCode.USAGE,
            )
        config = config.switching_on(recorded.get("switched_on", ()))
        usable = config.for_runtime(config.profiles[chosen].runtime)
        formless = tuple(name for name in config.services if name not in usable.services)
        return cls(project, usable, chosen, state, formless, even_damaged)

    @property
    def name(self) -> str:
        return self.state.name

    @property
    def form_key(self) -> str | None:
        """The key of a service of the user's own by which it runs in the profile's runtime.

        None for a profile on AWS, which runs no such service.
        """
        forms = {"native": "command", "compose": "image"}
        return forms.get(self.config.profiles[self.profile].runtime)

    @property
    def services(self) -> tuple[Service, ...]:
        """Services of its sources and the pipeline, optional ones that are on, and the user's."""
        return services_of(self.config)

    def service(self, name: str) -> Service:
        """Return the service `name`. Raises LabError (USAGE) if there is none."""
        for service in self.services:
            if service.name == name:
                return service
        known = f"services: {', '.join(s.name for s in self.services)}"
        if name in self.formless:
            raise LabError(
                f"{name} has no form for profile {self.profile!r}",
                hint=known
                if self.form_key is None
                else f"name its `{self.form_key}` in lab.toml, [services.{name}]",
                exit_code=ExitCode.USAGE,
            )
        off = f"this lab has none: write [{name}] with enabled = true into its file; {known}"
        raise LabError(
            f"There is no service {name!r}",
            hint=off if name in OPTIONAL else known,
            exit_code=ExitCode.USAGE,
        )

    @cached_property
    def tables(self) -> list[LabTable]:
        """The captured tables. Raises LabError if a properties file is not usable."""
        return lab_tables(self.project, self.config)

    @cached_property
    def sinks(self) -> list[Sink]:
        """The sinks that the tables' topics go into. Raises LabError for an unusable file."""
        return used_sinks(sink_files(self.project), self.tables)

    def table(self, name: str) -> LabTable:
        """Return the table `name`, which may be its short name if that is unique.

        Raises LabError (USAGE), which lists the existing tables, if there is none.
        """
        by_name = {table.name: table for table in self.tables}
        return by_name[full_name(name, by_name, place=" in this lab")]

    def table_of(self, source_name: str) -> LabTable:
        """Return the first table that the source table `source_name` feeds.

        Without one, return the table of that name.
        """
        for table in self.tables:
            if table.source_name == source_name:
                return table
        return self.table(source_name)

    @cached_property
    def ports(self) -> dict[str, dict[str, int]]:
        """Ports by service and endpoint, chosen once and then kept in the state folder."""
        self.require_here()
        recorded = self.state.load_if_readable() or {}
        return assign_ports(
            self.services,
            self.config,
            recorded.get("ports", {}),
            self._others_ports(),
            recorded.get("wished_ports", {}),
        )

    def forget_ports(self) -> None:
        """Have unsaved ports chosen again, apart from those that other labs hold by now."""
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

    @property
    def promoted(self) -> AwsProfile | None:
        """Profile by which the lab's services run on AWS; None if they run on this machine."""
        return self.config.promotable.get(self.profile)

    @cached_property
    def endpoints(self) -> Endpoints:
        """Addresses and logins of the services. Raises LabError if the lab was never started."""
        if (profile := self.promoted) is not None:
            return aws_endpoints(
                self.config, profile, load_promoted(outputs_path(self.project, self.profile))
            )
        self.state.require()
        return self.runtime.endpoints()

    @cached_property
    def runtime(self) -> Runtime:
        """Runtime of this lab's services. Raises LabError (USAGE) if they run elsewhere."""
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
        return self.state.exists and bool(self.runtime.states())

    def require_running(self) -> Lab:
        """Return this lab; raise LabError, which says how to start it, if it does not run.

        For a promoted lab only its addresses must be known; their use shows whether they answer.
        """
        if self.promoted is not None:
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
        """Return this lab's context for `service`."""
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
            build=lambda: self.runtime.inspector.build(service),
        )

    def require_here(self) -> Lab:
        """Return this lab; raise LabError (USAGE) if its profile has no processes here."""
        if self.promoted is not None:
            raise LabError(
                f"Profile {self.profile!r} has no services on this machine",
                hint="labctl promote status, apply and destroy are its commands",
                exit_code=ExitCode.USAGE,
            )
        return self

    def _others_ports(self) -> set[int]:
        """Return the ports that other labs hold, running or not."""
        others = (LabState(name) for name in lab_names() if name != self.name)
        return {
            port
            for other in others
            for ports in (other.load_if_readable() or {}).get("ports", {}).values()
            for port in ports.values()
        }


def remarks_on_forms(lab: Lab) -> list[str]:
    """Return a sentence about each service that the lab leaves out for lack of a form."""
    if lab.form_key is None:
        return []
    return [
        f"{name} is left out: [services.{name}] names no `{lab.form_key}`, which profile "
        f"{lab.profile!r} would run"
        for name in lab.formless
    ]
