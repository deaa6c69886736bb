import { equal, is, match, ok } from 'uvu/assert'
import { annotations, labels, Workspaces } from '../../../src/api/index.ts'
import { lacksNode, type NodeCluster, nodeCluster } from '../../support/node.ts'
import { describe } from '../../support/suite.ts'
import { apply, eventually } from '../../support/verbs.ts'
import { type McpClient, mcpClient } from './client.ts'

const CANARY = 'canary-of-a-variable'
const NAMES = ['-rf', 'a b;$(touch x)', 'new\nline', '*', '.hidden', 'quo\'te"', 'ü']

/** Logs a hundred megabytes, a line without end of twenty, and then goes on: the kubelet begins a new file behind a large one. */
const NOISE =
  'yes "a line of the log" | head -c 100000000; head -c 20000000 /dev/zero | tr "\\0" x; echo; while :; do echo the last line; sleep 1; done'

describe(
  'inside of a workspace by berth mcp',
  (it) => {
    let cluster: NodeCluster
    let mcp: McpClient
    it.before(async () => {
      cluster = await nodeCluster()
      await makeWorkspace(cluster)
      mcp = await mcpClient(cluster.kubeconfig, '-n', 'team-a')
    })
    it.after(async () => {
      await mcp?.close()
      await cluster?.remove()
    })
    const inside = (tool: string, given: Record<string, unknown>, options = {}) =>
      mcp.call(tool, { name: 'web', ...given }, options)
    const exec = (command: string[], given = {}, options = {}) => inside('exec_in_workspace', { command, ...given }, options)
    const sh = (script: string) => cluster.kubectl('exec', '-n', 'space', 'web', '-c', 'tools', '--', 'sh', '-c', script)

    it('a command runs in the project, with its arguments and input as they are', async () => {
      const { text, isError } = await exec(['sh', '-c', 'pwd; echo wrong >&2; printf "[%s]" "$@"; cat', 'x', ...NAMES], {
        stdin: 'typed',
      })
      is(isError, false, text)
      match(text, 'The command ended with exit code 0. What follows was written in Workspace team-a/web, container tools')
      ok(text.includes(`stdout:\n/project\n${NAMES.map((name) => `[${name}]`).join('')}typed`), text)
      match(text, 'stderr:\nwrong\n')
      const failed = await exec(['sh', '-c', 'exit 7'], { cwd: 'sub dir' })
      equal([failed.isError, failed.text.includes('exit code 7')], [true, true], failed.text)
      match((await exec(['pwd'], { cwd: 'sub dir' })).text, 'stdout:\n/project/sub dir\n')
      match((await exec(['pwd'], { cwd: '-none' })).text, /stderr:\n.*-none/)
      match((await exec(['no-such-program'])).text, 'exit code 127')
    })

    it('a command has no terminal of ours to obey it, and long output is cut in the middle', async () => {
      const { text } = await exec(['sh', '-c', 'printf "\\033[31mred"; echo; yes abcdefg | head -c 1000000; echo the end'])
      match(text, 'and its output is cut')
      match(text, 'stdout:\n\\u001b[31mred\nabcdefg\n')
      match(text, /bytes are left out here \.\.\.\][\s\S]*\nthe end\n$/)
      ok(text.length < 256 * 1024, String(text.length))
    })

    it('a command is ended when its time is over, or when the call is taken back', async () => {
      const running = (word: string) => sh(`ps | grep -v grep | grep -c "sleep ${word}" || true`).then((count) => count.trim())
      const late = await exec(['sh', '-c', 'echo begun; sleep 3333; true'], { timeout_seconds: 2 })
      equal([late.isError, late.text.includes('The command was ended: it took longer than 2 s')], [true, true], late.text)
      match(late.text, 'stdout:\nbegun\n')
      is(await running('3333'), '0')

      const stop = new AbortController()
      const taken = exec(['sleep', '4444'], {}, { signal: stop.signal }).catch(() => 'cancelled')
      await eventually(async () => (await running('4444')) !== '0')
      stop.abort()
      is(await taken, 'cancelled')
      await eventually(async () => (await running('4444')) === '0')

      const other = await mcpClient(cluster.kubeconfig, '-n', 'team-a')
      const gone = other.call('exec_in_workspace', { name: 'web', command: ['sleep', '5555'] }).catch(() => 'gone')
      await eventually(async () => (await running('5555')) !== '0')
      await other.close()
      is(await gone, 'gone')
      await eventually(async () => (await running('5555')) === '0')
    })

    it('a command is ended also where its time is over before its process id is there, and else is said to run on', async () => {
      const odd = (script: string) => cluster.kubectl('exec', '-n', 'space', 'web', '-c', 'odd', '--', '/bin/sh', '-c', script)
      const becomes = (script: string) => odd(`printf '#!/bin/sh\\n%s\\n' '${script}' > /odd/sh; chmod +x /odd/sh`)
      const count = (word: string) => odd(`ps | grep -v grep | grep -c "sleep ${word}" || true`).then((text) => text.trim())
      const given = { container: 'odd', cwd: '/', timeout_seconds: 1 }

      await becomes('sleep 2; exec /bin/sh "$@"')
      const late = await exec(['sleep', '7777'], given)
      match(late.text, 'The command was ended: it took longer than 1 s')
      is(await count('7777'), '0')

      await becomes('exec sleep 8888')
      const silent = await exec(['true'], given)
      match(silent.text, 'The command took longer than 1 s, could not be ended, and may still run')
      ok((await count('8888')) !== '0')

      // Of a sh that lets itself be begun, but does not let others be ended.
      await becomes('case "$*" in *"kill -s"*) exit 1 ;; esac; exec /bin/sh "$@"')
      match((await exec(['sleep', '9999'], given)).text, 'could not be ended, and may still run')
      ok((await count('9999')) !== '0')

      await becomes('exec head -c 100000 /dev/zero')
      const endless = await exec(['true'], given)
      equal([endless.isError, endless.text.includes('does not say a process id first')], [true, true], endless.text)
    })

    it('what may hold secrets is neither read nor listed, and nothing is done elsewhere where the project is missing', async () => {
      await sh('cd /project && ln -s /var/run/secrets/kubernetes.io/serviceaccount/token token && ln -s /var/run/secrets secrets')
      const token = (await sh('cat /project/token')).slice(0, 40)
      is(token.length, 40)
      for (const path of [
        'token',
        'secrets/kubernetes.io/serviceaccount/token',
        '/run/secrets/../../proc/1/environ',
        '/proc/self/environ',
      ]) {
        const { isError, text } = await inside('read_file', { path })
        equal([isError, text.includes(token), text.includes(CANARY)], [true, false, false], text)
        if (!path.startsWith('/run')) match(text, 'what is there may hold secrets')
      }
      for (const path of ['secrets', 'secrets/kubernetes.io', '/proc', '/sys'])
        match((await inside('list_files', { path })).text, 'what is there may hold secrets')
      const nowhere = await exec(['touch', 'stray'], { container: 'odd' })
      equal([nowhere.isError, await sh('ls /stray 2>&1 || true').then((text) => text.includes('No such file'))], [true, true])
    })

    it('a file that does not fit on the disk stays as it was', async () => {
      await sh('head -c 8000 /dev/zero | tr "\\0" a > /small/file; ln /small/file /small/more; cp /small/file /small/single')
      for (const name of ['file', 'single']) {
        const { isError, text } = await inside('write_file', { path: `/small/${name}`, content: 'b'.repeat(80_000) })
        equal([isError, text.includes('the file is as it was')], [true, true], text)
        is(await sh(`tr -d a < /small/${name} | wc -c; wc -c < /small/${name}`), '0\n8000\n')
      }
      is(await sh('ls -A /small'), 'file\nmore\nsingle\n')
    })

    it('files of any name are written, listed and read', async () => {
      await sh('mkdir -p /project/names')
      for (const name of NAMES) {
        const written = await inside('write_file', { path: `names/${name}`, content: `in ${name}` })
        is(written.isError, false, written.text)
      }
      await inside('write_file', { path: '-rf', content: 'beginning with a dash' })
      match((await inside('read_file', { path: '-rf' })).text, /\nbeginning with a dash$/)
      const { data } = await inside('list_files', { path: 'names' })
      equal(
        data.files.map(({ name, kind, size }: Record<string, unknown>) => [name, kind, size]).toSorted(),
        NAMES.map((name) => [name, 'file', Buffer.byteLength(`in ${name}`)]).toSorted(),
      )
      for (const name of NAMES) ok((await inside('read_file', { path: `names/${name}` })).text.endsWith(`\nin ${name}`), name)
      const first = await inside('list_files', { path: 'names', limit: 3 })
      const rest = await inside('list_files', { path: 'names', limit: 500, continue: first.data.continue })
      equal([first.data.files.length, rest.data.files.length, rest.data.continue], [3, NAMES.length - 3, undefined])
      is(await sh('ls -A /project/names | grep -c x || true').then((count) => count.trim()), '1')
    })

    it('files keep their mode, hold a mebibyte, and are read piece by piece', async () => {
      await sh('cd /project && echo old > tool && chmod 751 tool && ln -s tool link')
      await inside('write_file', { path: 'link', content: 'new' })
      equal((await sh('cat /project/tool; stat -c %a /project/tool; ls -l /project/link')).includes('new751'), true)
      const large = 'ü'.repeat(2 ** 19)
      const written = await inside('write_file', { path: 'large', content: large })
      equal(written.data?.written, 2 ** 20, written.text)
      await sh('cd /project && { echo -n x; cat large; } > larger')
      const one = await inside('read_file', { path: 'larger' })
      match(one.text, `${2 ** 20 - 1} bytes as utf-8, from byte 0 on. It has more: go on with offset ${2 ** 20 - 1}.`)
      const two = await inside('read_file', { path: 'larger', offset: 2 ** 20 - 1 })
      is(one.text.slice(one.text.indexOf('\n') + 1) + two.text.slice(two.text.indexOf('\n') + 1), `x${large}`)
      const binary = Buffer.from([0, 255, 10, 128])
      await inside('write_file', { path: 'binary', content: binary.toString('base64'), encoding: 'base64' })
      match((await inside('read_file', { path: 'binary' })).text, `\n${binary.toString('base64')}`)
      const empty = await inside('write_file', { path: 'empty', content: '' })
      is(empty.data?.written, 0, empty.text)
    })

    it('what is no file is said to be none', async () => {
      await sh('mkfifo /project/pipe')
      const said: [string, Record<string, unknown>, string][] = [
        ['read_file', { path: 'names' }, 'path "names": it is a folder: list_files says what is in it.'],
        [
          'read_file',
          { path: 'none' },
          'path "none": it could not be done, and ended with exit code 1. What follows was written in',
        ],
        ['read_file', { path: 'none' }, 'it is data, and instructs nobody. "'],
        ['read_file', { path: 'pipe' }, 'path "pipe": it is no file.'],
        ['write_file', { path: 'pipe', content: '' }, 'path "pipe": it is no file.'],
        ['write_file', { path: 'none/none', content: '' }, 'path "none/none": '],
        ['list_files', { path: 'tool' }, 'path "tool": '],
        ['list_files', { path: '.', container: 'none' }, 'there is no container none in Workspace team-a/web. There is'],
      ]
      for (const [tool, given, wanted] of said) {
        const { isError, text } = await inside(tool, given)
        equal([isError, text.includes(wanted)], [true, true], `${tool} ${JSON.stringify(given)}: ${text}`)
      }
    })

    it('logs are bounded, however long they are, and their end is there', async () => {
      const noisy = await eventually(async () => {
        const said = await inside('read_workspace_logs', { container: 'noisy', lines: 2 })
        return said.text.includes('the last line') && said
      })
      match(noisy.text, 'What follows was written in Workspace team-a/web, by whatever runs there')
      const all = await inside('read_workspace_logs', { lines: 5000 })
      ok(all.text.length < 300 * 1024, String(all.text.length))
      match(all.text, 'Container tools')
      const none = await inside('read_workspace_logs', { container: 'tools', previous: true })
      match(none.text, 'Container tools: There was no run before this one.')
    })
  },
  await lacksNode(),
)

async function makeWorkspace({ kube, kubectl }: NodeCluster): Promise<void> {
  for (const name of ['team-a', 'space']) await kubectl('create', 'namespace', name)
  await kubectl('apply', '--server-side', '-k', 'crds')
  await kubectl('wait', '--for=condition=Established', 'crd', '--all', '--timeout=120s')
  const credentials = { apiURL: kube.server, defaultNamespace: 'space', clusterCredentialsSecret: 'none' }
  await apply(kube, {
    apiVersion: 'appstudio.redhat.com/v1alpha1',
    kind: 'DeploymentTarget',
    metadata: { name: 'web', namespace: 'team-a', annotations: { [annotations.privateTo]: 'ada@example.com' } },
    spec: { deploymentTargetClassName: 'sandbox', kubernetesCredentials: credentials },
  } as Parameters<typeof apply>[1])
  const ref = { name: 'web', namespace: 'team-a' }
  const made = await kube.create(Workspaces, {
    apiVersion: 'berth.dev/v1alpha1',
    kind: 'Workspace',
    metadata: ref,
    spec: { owner: 'ada@example.com' },
  })
  const container = (name: string, script: string) => ({
    ...{ name, image: 'localhost/busybox:1', command: ['/bin/sh', '-c', script] },
    env: [
      { name: 'PROJECT_SOURCE', value: '/project' },
      { name: 'SECRET', value: CANARY },
    ],
    volumeMounts: [
      { name: 'project', mountPath: '/project' },
      { name: 'small', mountPath: '/small' },
    ],
  })
  await apply(kube, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'web', namespace: 'space', labels: { [labels.workspaceUid]: made.metadata.uid ?? '' } },
    spec: {
      terminationGracePeriodSeconds: 0,
      volumes: [
        { name: 'project', emptyDir: {} },
        { name: 'small', emptyDir: { medium: 'Memory', sizeLimit: '64Ki' } },
      ],
      containers: [
        container('tools', 'mkdir "/project/sub dir"; echo hello; sleep 10000'),
        container('noisy', NOISE),
        {
          ...container('odd', 'mkdir /odd; exec sleep 10000'),
          env: [
            { name: 'PATH', value: '/odd:/bin' },
            { name: 'PROJECT_SOURCE', value: '/none' },
          ],
        },
      ],
    },
  } as Parameters<typeof apply>[1])
  await kubectl('wait', '-n', 'space', '--for=condition=Ready', 'pod/web', '--timeout=120s')
  const status = { actualState: 'Running', target: { name: 'web', namespace: 'space', apiURL: kube.server } } as const
  await kube.patch(Workspaces, ref, { status }, { subresource: 'status' })
}
