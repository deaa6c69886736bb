import { join, resolve } from 'node:path'
import type { Command } from 'commander'
import { nameOf, type Workspace, Workspaces, workspaceWishOf } from '../../api/index.ts'
import { Failure } from '../../std/index.ts'
import type { ObjectOptions } from '../find-object.ts'
import { withKube, withKubeconfig, withNamespace } from '../options.ts'
import { wrap } from '../output.ts'
import type { Shell } from '../shell.ts'
import { actionVerb } from '../verb.ts'
import { certificateOf, isOver } from './certified-key.ts'
import { entryOf, type SshEntry, type SshPlaces } from './entry.ts'
import { isThere, makeFolder, readPlain, removeOurs, type SshFiles, sshFilesOf, wordFor, writeWhole } from './files.ts'
import { configWith, knownHostsWith, withInclude, withoutInclude } from './text.ts'

interface Options extends ObjectOptions {
  allNamespaces?: boolean
  identity?: string
  write?: boolean
  remove?: boolean
}

export const verb = actionVerb({
  description:
    'Print a configuration of OpenSSH for the workspaces of a namespace: `ssh web.team-a.berth` then leads into one, for scp, VS Code and JetBrains, too. The host keys that their statuses tell are pinned: nobody is asked, and another key is refused. It needs a key of yours in spec.sshKeys of the Workspace, or a certificate by `berth ssh-cert`, and a proxy that takes SSH.',
  examples: [
    ['berth ssh-config -n team-a', 'look at it'],
    ['berth ssh-config -n team-a --write', 'have ssh, scp and editors know it'],
    ['ssh web.team-a.berth make test', 'then this works'],
    ['scp notes.txt web.team-a.berth:', 'and this'],
    ['berth ssh-config --write --identity ~/.ssh/work', 'with that key alone'],
    ['berth ssh-config --remove', 'as if it had never been'],
  ],
  options: (command: Command) =>
    withNamespace(withKubeconfig(command), 'of one namespace')
      .option('-A, --all-namespaces', 'of all namespaces')
      .option('--identity <file>', 'show this private key, and no other')
      .option('--write', 'write it to ~/.ssh/berth, and have ~/.ssh/config include it')
      .option('--remove', 'take away what --write has written'),
  run: (shell: Shell, options: Options) => (options.remove ? remove(shell, options) : tell(shell, options)),
})

async function tell(shell: Shell, options: Options): Promise<void> {
  const files = sshFilesOf(shell)
  const places = { knownHosts: wordFor(files.knownHosts, 'HOME'), ...(await identitiesFor(shell, files, options.identity)) }
  const scope = options.allNamespaces ? {} : { namespace: options.namespace }
  const workspaces = await withKube(shell, options, (kube) => kube.list(Workspaces, scope))
  const entries = entriesOf(shell, workspaces)
  const isTakenAway = options.write && (await readPlain(files.ourConfig)) !== ''
  if (entries.length === 0 && !isTakenAway) throw nothingReached(workspaces, scope.namespace)
  if (options.write) return write(shell, { files, places, entries, namespace: scope.namespace })
  const keys = knownHostsWith(entries).trimEnd()
  shell.print(`${configWith(entries, places)}\n# ${files.knownHosts}:\n${keys.replaceAll(/^/gm, '# ')}`)
  shell.say('Nothing is written. With --write it is, and the keys of the hosts with it.\n')
}

/** As OpenSSH calls what it shows where nothing is named. */
const USUAL = ['id_rsa', 'id_ecdsa', 'id_ed25519']

/** A key that is named hides the usual ones: with a certificate of `berth ssh-cert` they are named, too. */
async function identitiesFor(
  shell: Shell,
  { folder, identity }: SshFiles,
  named: string | undefined,
): Promise<Omit<SshPlaces, 'knownHosts'>> {
  if (named !== undefined) {
    const file = resolve(shell.cwd, named)
    const certificates = await certificatesBeside(shell, file)
    return {
      certificates: certificates.map((each) => wordFor(each, '--identity')),
      identities: [wordFor(file, '--identity')],
      isAll: true,
    }
  }
  const certificates = await certificatesBeside(shell, identity)
  if (certificates.length === 0) return { certificates, identities: [], isAll: false }
  const found: string[] = []
  for (const each of [identity, ...USUAL.map((name) => join(folder, name))]) if (await isThere(each)) found.push(each)
  const wordsOf = (all: readonly string[]) => all.map((each) => wordFor(each, 'HOME'))
  return { certificates: wordsOf(certificates), identities: wordsOf(found), isAll: false }
}

/** The one, if it is there and counts still. */
async function certificatesBeside(shell: Shell, file: string): Promise<string[]> {
  const certificate = certificateOf(file)
  if (!(await isThere(certificate))) return []
  if (!(await isOver(certificate))) return [certificate]
  say(shell, `Left out: ${certificate}, which is over. Get another with \`berth ssh-cert\`, and do this again.`)
  return []
}

/** Those that are reached; why others are left out is said, and why one that is told may not let in. */
function entriesOf(shell: Shell, workspaces: readonly Workspace[]): SshEntry[] {
  const reached = workspaces.filter(({ status }) => status?.ssh !== undefined)
  const entries: SshEntry[] = []
  const told: Workspace[] = []
  for (const workspace of reached) {
    const entry = entryOf(workspace)
    if (typeof entry === 'string') say(shell, `Left out: ${entry}.`)
    else {
      entries.push(entry)
      told.push(workspace)
    }
  }
  remark(
    shell,
    'Without a key in spec.sshKeys, so that no key without a certificate lets in',
    told,
    ({ spec }) => !spec.sshKeys?.length,
  )
  remark(shell, 'Stopped, and started with `berth start`', told, (each) => workspaceWishOf(each) !== 'Running')
  return entries
}

const MOST_NAMED = 10

function remark(shell: Shell, what: string, all: readonly Workspace[], holds: (workspace: Workspace) => boolean): void {
  const names = all.filter(holds).map(nameOf)
  if (names.length === 0) return
  const more = names.length > MOST_NAMED ? ` and ${names.length - MOST_NAMED} more` : ''
  say(shell, `${what}: ${names.slice(0, MOST_NAMED).join(', ')}${more}.`)
}

const say = (shell: Shell, text: string): void => shell.say(`${wrap(text).join('\n')}\n`)

function nothingReached(workspaces: readonly Workspace[], namespace: string | undefined): Failure {
  const where = namespace === undefined ? 'in any namespace' : `in namespace ${namespace}`
  if (workspaces.length === 0)
    return new Failure('not-found', `there is no Workspace ${where}.`, {
      remedy: 'Name another namespace with -n, or make one with `berth create`.',
    })
  if (workspaces.some(({ status }) => status?.ssh))
    return new Failure('not-found', `every Workspace ${where} that is reached over SSH was left out.`, {
      remedy: 'What is said above of each stands in its status.ssh, which the operator writes.',
    })
  return new Failure('not-found', `no Workspace ${where} is reached over SSH.`, {
    remedy:
      'The proxy takes SSH with proxy.ssh and proxy.sshAddress among the values (docs/proxy.md#ssh), where the class has no proxy.sshEnabled: false. `berth ssh` needs neither.',
  })
}

interface Writing {
  files: SshFiles
  places: SshPlaces
  entries: readonly SshEntry[]
  /** All without one. */
  namespace: string | undefined
}

async function write(shell: Shell, { files, places, entries, namespace }: Writing): Promise<void> {
  const { folder, config, ourFolder, ourConfig, knownHosts, include } = files
  await makeFolder(folder)
  const own = await readPlain(config)
  await makeFolder(ourFolder)
  const [ours, keys] = [await readPlain(ourConfig), await readPlain(knownHosts)]
  const isRewritten = (other: string) => namespace === undefined || other === namespace
  // The keys come first: a host without its key is refused, and one that is asked about is not.
  await writeWhole(knownHosts, knownHostsWith(entries, keys, isRewritten), keys, true)
  await writeWhole(ourConfig, configWith(entries, places, ours, isRewritten), ours, true)
  await writeWhole(config, withInclude(own, include), own, false)
  const hosts = [...new Set(entries.map(({ host, port }) => `${host}:${port}`))].join(', ')
  const at = entries.length > 0 ? ` at ${hosts}` : ', for none is reached any more'
  shell.say(`Wrote ${ourConfig}, which ${config} includes: ${entries.length}${at}.\n`)
  for (const { alias } of entries.slice(0, MOST_NAMED)) shell.print(`ssh ${alias}`)
}

async function remove(shell: Shell, { write: isWriting }: Options): Promise<void> {
  if (isWriting) throw new Failure('invalid', '--write and --remove are given together.', { remedy: 'Leave one of them out.' })
  const files = sshFilesOf(shell)
  const own = await readPlain(files.config)
  const without = withoutInclude(own, files.include)
  if (without !== own) await writeWhole(files.config, without, own, false)
  await removeOurs(files)
  const kept = (await isThere(files.identity)) ? ` The key ${files.identity} stays.` : ''
  shell.say(`Took away ${files.ourConfig}, and the line of ${files.config} that included it.${kept}\n`)
}
