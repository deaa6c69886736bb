import { equal, is } from 'uvu/assert'
import { createTellSync } from '../../../src/engines/gitops/index.ts'
import type { Change, Entry } from '../../../src/engines/gitops/objects/change-set.ts'
import { createLog, Failure, type Span, type Tracer } from '../../../src/std/index.ts'
import { describe } from '../../support/suite.ts'

const COMMIT = '0123456789abcdef0123456789abcdef01234567'
const entry = (change: Change): Entry => ({ id: { group: '', kind: 'ConfigMap', name: 'a' }, change })

/** What is told of the syncs of one owner. */
function listener() {
  const spans: Span[] = []
  const lines: string[] = []
  const tracer: Tracer = {
    recordRoot: () => undefined,
    record(_commit, span) {
      spans.push(span)
    },
  }
  const log = createLog('info', { write: (line) => lines.push(line) })
  const tell = createTellSync({ log, tracer })
  const owner = { id: 'uid', title: 'GitOpsDeployment team-a/shop' }
  const about = { commitId: COMMIT, owner, began: 1000, ended: 1500, steps: [] }
  return {
    spans,
    lines,
    tell: (changes: Change[], failure?: Failure, commitId = COMMIT) =>
      tell({ ...about, commitId, changes: changes.map(entry), failure }),
  }
}

describe('a sync is told', (it) => {
  it('with what it did, in the trace and in the log', () => {
    const { spans, lines, tell } = listener()
    tell(['created', 'created', 'unchanged', 'pruned'])
    const attributes = { 'berth.owner': 'GitOpsDeployment team-a/shop', 'berth.objects.created': 2, 'berth.objects.pruned': 1 }
    equal(spans, [{ name: 'sync', began: 1000, ended: 1500, steps: [], attributes, error: undefined }])
    const { commit, trace_id, ms, message } = JSON.parse(lines[0] ?? '')
    equal([commit, trace_id, ms, message], [COMMIT, COMMIT.slice(0, 32), 500, 'a commit was synced'])
  })

  it('not when it did nothing', () => {
    const { spans, lines, tell } = listener()
    tell([])
    tell(['unchanged'])
    equal([spans, lines], [[], []])
  })

  it('as failed when an object was refused, with the reason alone', () => {
    const { spans, lines, tell } = listener()
    tell(['created', 'failed'])
    tell([], new Failure('invalid', 'the password is s3cret', { reason: 'RenderFailed' }))
    equal(
      spans.map(({ error }) => error),
      ['ApplyFailed', 'RenderFailed'],
    )
    is(JSON.stringify([spans, lines]).includes('s3cret'), false)
  })

  it('once where it only finds again what could not be done, until that is something else', () => {
    const { spans, tell } = listener()
    for (let pass = 0; pass < 3; pass++) tell(['failed', 'unchanged'])
    is(spans.length, 1)
    for (let pass = 0; pass < 3; pass++) tell(['waiting'])
    is(spans.length, 2)
    tell(['waiting'], undefined, 'f'.repeat(40))
    is(spans.length, 3)
    for (let pass = 0; pass < 2; pass++) tell(['configured', 'waiting'])
    is(spans.length, 5)
  })
})
