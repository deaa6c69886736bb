import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import * as assert from 'uvu/assert'
import { type Workspace, type WorkspaceSpec, type WorkspaceStatus, Workspaces } from '../../../src/api/index.ts'
import { plain } from '../../../src/cli/shell.ts'
import { describeWorkspace } from '../../../src/cli/workspace/describe.ts'
import { news, standOf } from '../../../src/cli/workspace/progress.ts'
import { noteOf } from '../../../src/cli/workspace/row.ts'
import { sayAddress } from '../../../src/cli/workspace/watch.ts'
import { spelled } from '../../../src/std/index.ts'
import { portOf } from '../../support/addresses.ts'
import { describe } from '../../support/suite.ts'

const NOW = Date.parse('2030-01-01T12:00:00Z')

const workspace = (status: WorkspaceStatus, spec: WorkspaceSpec = {}): Workspace => ({
  apiVersion: 'berth.dev/v1alpha1',
  kind: Workspaces.kind,
  metadata: { name: 'web', namespace: 'team-a', generation: 1, creationTimestamp: '2030-01-01T11:00:00Z' },
  spec: { owner: 'ada@example.com', ...spec },
  status: { observedGeneration: 1, ...status },
})
const condition = (type: string, status: 'True' | 'False' | 'Unknown', message = 'done') => ({
  type,
  status,
  reason: 'Done',
  message,
  lastTransitionTime: '2030-01-01T11:30:00Z',
})
const stop = { willStopAt: '2030-01-01T15:00:00Z', willStopReason: 'Idle' }

const NOTES: [why: string, status: WorkspaceStatus, spec: WorkspaceSpec, note: string][] = [
  ['one that runs says when it stops, and why', { actualState: 'Running', ...stop }, {}, 'stops in 3 h (Idle)'],
  [
    'one that starts says in which step it is, and for how long',
    { actualState: 'Starting', step: { name: 'Image', container: 'tools', since: '2030-01-01T11:59:30Z' } },
    {},
    'Image tools, 30 s',
  ],
  [
    'one that waits says for what kind of thing',
    { actualState: 'Starting', waitingFor: 'nodes', waiting: { reason: 'Unschedulable', since: '2030-01-01T11:59:30Z' } },
    {},
    'waits: Unschedulable',
  ],
  [
    'one that failed says why',
    { actualState: 'Failed', failure: { reason: 'ImageNotFound', message: 'm' } },
    {},
    'ImageNotFound',
  ],
  [
    'one that was stopped by itself says why, and when it ends',
    {
      actualState: 'Stopped',
      stoppedBecause: 'Idle: nobody has used it',
      willTerminateAt: '2030-01-03T12:00:00Z',
      willTerminateReason: 'MaxStoppedHours',
    },
    { desiredState: 'Stopped' },
    'Idle, ends in 2 d (MaxStoppedHours)',
  ],
]

describe('workspaces in words', (it) => {
  for (const [why, status, spec, note] of NOTES) it(why, () => assert.is(noteOf(workspace(status, spec), NOW), note))

  it('tell lengths of time in one unit', () => {
    const lengths = [-5, 400, 12_000, 119_000, 130_000, 3 * 3_600_000, 49 * 3_600_000].map(spelled)
    assert.equal(lengths, ['0.0 s', '0.4 s', '12 s', '119 s', '2 min', '3 h', '2 d'])
  })

  it('say a mistake once', () => {
    const failure = { reason: 'DevfileInvalid', cause: 'DevfileValid', message: 'it has 2 mistakes: a; b', remedy: 'Correct it.' }
    const conditions = [
      condition('DevfileValid', 'False', 'it has 2 mistakes: a; b. Correct it.'),
      condition('ObjectsCurrent', 'False', 'what runs was made before: it has 2 mistakes: a; b. Correct it.'),
    ]
    const running = workspace({ actualState: 'Running', failure, conditions })
    const letter = describeWorkspace({ paint: plain }, running, NOW)
    assert.is(letter.split('it has 2 mistakes').length, 2)
    assert.match(letter, '  DevfileInvalid: it has 2 mistakes: a; b\n')
    assert.match(letter, 'ObjectsCurrent: what runs was made before: Done, as said above')
    assert.is(noteOf(running, NOW), 'changes wait: DevfileInvalid')
  })

  it('tell what is new, and nothing twice', () => {
    const first = workspace({ actualState: 'CreationRequested', waitingFor: 'WorkspaceClass x' })
    assert.equal(news(undefined, first), ['CreationRequested', '  waits for WorkspaceClass x'])
    const next = workspace({
      actualState: 'Starting',
      step: { name: 'Image', container: 'tools', since: '2030-01-01T11:59:30Z' },
      conditions: [condition('ClassResolved', 'True'), condition('Applied', 'False')],
    })
    assert.equal(news(first, next), ['Starting', '  ClassResolved', '  ... Image (tools)'])
    assert.equal(news(next, next), [])
    const failure = { reason: 'DevfileInvalid', message: 'it has a mistake', remedy: 'Correct it.' }
    const failed = workspace({ actualState: 'Error', failure })
    assert.equal(news(first, failed), ['Error', '  DevfileInvalid: it has a mistake'])
    assert.is(standOf(failed), 'Error, DevfileInvalid: it has a mistake')
    assert.is(standOf(next), 'Starting, in step Image (tools)')
  })

  it('say what failed, in which step, what was tried and what helps, in 80 columns', () => {
    const failure = {
      reason: 'CrashLoopBackOff',
      step: 'Run of container tools',
      since: '2030-01-01T11:50:00Z',
      cause: 'container tools of Pod workspace-web-1 ends again and again',
      message: 'exit code 1',
      tried: 'started 6 times',
      remedy: 'Read its log: berth logs web -n team-a --previous',
    }
    const conditions = [
      condition('Ready', 'False'),
      condition('ClassResolved', 'True', 'the settings of WorkspaceClass standard as of its generation 3'),
      condition('DeploymentReady', 'False', 'it crashes'),
      condition('ProjectCloned', 'False', 'there is no GitProject'),
    ]
    const letter = describeWorkspace(
      { paint: plain },
      workspace({ actualState: 'Failed', failure, conditions, ...stop, url: 'https://web.example.com/' }),
      NOW,
    )
    assert.match(
      letter,
      /^Workspace team-a\/web: Failed, is to be Running\n {2}CrashLoopBackOff in step Run of container tools, since 10 min;/,
    )
    assert.match(letter, '  -> Read its log: berth logs web -n team-a --previous')
    assert.match(letter, /Owner +ada@example.com/)
    assert.match(letter, /Stops +in 3 h, 2030-01-01T15:00:00Z: Idle/)
    assert.match(letter, /DeploymentReady +no +11:30:00 +it crashes/)
    assert.match(letter, 'ProjectCloned: there is no GitProject')
    for (const line of letter.split('\n')) assert.ok(line.length <= 80, line)
  })
})

describe('the address of a workspace that runs', (it) => {
  const { signal } = new AbortController()
  const listening = async (server: Server) => {
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    return `http://127.0.0.1:${portOf(server)}/`
  }

  it('is one to open where something answers, whatever it is', async () => {
    const server = createServer((_, response) => response.writeHead(302, { location: 'http://127.0.0.1:1/sign-in' }).end())
    const url = await listening(server)
    assert.is(await sayAddress(url, signal), `Open it at ${url}`)
    server.close()
  })

  it('is nobody to be sent to where nothing does, and the line says what is missing', async () => {
    const server = createServer()
    const url = await listening(server)
    server.close()
    await once(server, 'close')
    const said = (await sayAddress(url, signal)).replaceAll(/\s+/g, ' ')
    assert.match(said, `Its address is ${url}, but nothing answers there from this machine (connect ECONNREFUSED`)
    assert.match(said, 'the proxy has to run, and a name and a certificate lead to it (docs/proxy.md).')
  })
})
