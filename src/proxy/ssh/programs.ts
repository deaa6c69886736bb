import { execInPod } from '../../adapters/kube/index.ts'
import type { SshChannel, SshProgram } from '../../adapters/ssh/index.ts'
import { SHELL_SCRIPT } from '../../engines/lookout/index.ts'
import type { Place } from './inside.ts'

/** Variables come first, and the rest is behind `--`. */
const WITH_VARIABLES = 'while [ "$1" != -- ]; do export "$1"; shift; done; shift'
/** This shell stays: the runtime takes its input from a command whose output nobody holds open, as of `cat > file`. */
const COMMAND_SCRIPT = `cd "\${PROJECT_SOURCE:-.}" 2>/dev/null
sh -c "$1"
exit $?`

/** Where the packages of distributions have it. */
const SFTP_SCRIPT = `cd "\${PROJECT_SOURCE:-.}" 2>/dev/null
for each in /usr/lib/openssh /usr/libexec/openssh /usr/lib/ssh /usr/libexec /usr/lib/misc
do [ -x "$each/sftp-server" ] && exec "$each/sftp-server"; done
echo "The image of this workspace has no sftp-server. Use scp -O, or install openssh-sftp-server there." >&2
exit 255`

const SCRIPTS: Record<SshProgram['kind'], string> = {
  shell: SHELL_SCRIPT,
  command: COMMAND_SCRIPT,
  subsystem: SFTP_SCRIPT,
}

/** What a terminal makes a signal of. Nothing else reaches a program through the API. */
const TYPED: Readonly<Record<string, number>> = { INT: 3, QUIT: 28 }

/** Runs the program to its end. Throws when it cannot be started. */
export async function runProgram(place: Place, program: SshProgram, channel: SshChannel): Promise<void> {
  const { kind, text, terminal, variables } = program
  const assignments = [...variables].map(([name, value]) => `${name}=${value}`)
  const command = ['sh', '-c', `${WITH_VARIABLES}\n${SCRIPTS[kind]}`, 'sh', ...assignments, '--', text]
  const running = await execInPod(place.kube, { ...place, command, hasTerminal: terminal !== undefined }, channel.closed)
  const ignore = () => undefined
  if (terminal) await running.resize(terminal)
  program.onResize((size) => void running.resize(size).catch(ignore))
  program.onSignal((name) => {
    const typed = terminal && TYPED[name]
    if (typed !== undefined) running.input(Buffer.of(typed)).catch(ignore)
  })
  // Whatever ends the input, it is the output that tells how the program ended.
  void feed(running, channel).catch(ignore)
  const code = await running.follow((from, bytes) => channel.write(bytes, from))
  channel.end(code)
}

async function feed(running: Awaited<ReturnType<typeof execInPod>>, { input }: SshChannel): Promise<void> {
  for await (const bytes of input) await running.input(bytes)
  await running.endInput()
}
