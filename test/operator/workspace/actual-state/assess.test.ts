import * as assert from 'uvu/assert'
import { assess, CAUSES, causeOf } from '../../../../src/operator/workspace/actual-state/index.ts'
import { timestamp } from '../../../../src/std/index.ts'
import { describe } from '../../../support/suite.ts'
import { ADMISSION } from './admission.ts'
import { CLONES } from './clones.ts'
import { CONTAINERS } from './containers.ts'
import { CRASHES } from './crashes.ts'
import { IMAGES } from './images.ts'
import { INIT_AND_PROBES } from './init-and-probes.ts'
import { MOUNTS } from './mounts.ts'
import { NODES } from './nodes.ts'
import { live, NOW, pod, type Row, running, stopped } from './objects.ts'
import { PATIENCE } from './patience.ts'
import { RULES } from './rules.ts'
import { SCHEDULING } from './scheduling.ts'
import { VOLUMES } from './volumes.ts'

const TABLES = {
  "the rules of GitLab's workspaces": RULES,
  admission: ADMISSION,
  scheduling: SCHEDULING,
  volumes: VOLUMES,
  'mounts and sandboxes': MOUNTS,
  images: IMAGES,
  containers: CONTAINERS,
  'crash loops': CRASHES,
  'init containers and probes': INIT_AND_PROBES,
  clones: CLONES,
  'nodes and other ends': NODES,
  patience: PATIENCE,
}

function check({ why, given, state, reason, step, until, says, heals }: Row): void {
  const found = assess({ now: NOW, ...given })
  const { trouble } = found
  assert.is(found.state, state, `${why}: ${JSON.stringify(trouble)}`)
  assert.is(trouble?.reason, reason, why)
  assert.is(found.step && [found.step.name, found.step.container].filter(Boolean).join(' '), step, why)
  const ends = trouble && !trouble.fatal ? (trouble.until === undefined ? 'never' : (trouble.until - NOW) / 1000) : undefined
  assert.is(ends, until, why)
  assert.not.match(trouble?.tried ?? '', /waited 0/)
  if (says) assert.match([trouble?.cause, trouble?.message, trouble?.tried].join(' | '), says, why)
  if (heals) assert.match(trouble?.remedy ?? '', heals, why)
}

for (const [title, rows] of Object.entries(TABLES)) {
  describe(`actual state: ${title}`, (it) => {
    for (const row of rows) it(row.why, () => check(row))
  })
}

describe('actual state: the tables', (it) => {
  const rows = Object.values(TABLES).flat()
  it('have at least 120 rows', () => assert.ok(rows.length >= 120, `${rows.length} rows`))
  it('leave no cause without a row', () => {
    const tested = new Set<string | undefined>(rows.map(({ reason }) => reason))
    assert.equal(
      Object.keys(CAUSES).filter((reason) => !tested.has(reason)),
      [],
    )
  })
  it('say of every cause what it is and what to do, in sentences', () => {
    for (const { what, remedy } of Object.values(CAUSES)) {
      assert.match(what, /^[a-z].*[^.]$/)
      assert.match(remedy, /^[A-Z].*\.$/)
    }
  })
  it('never report RestartRequested, which is a wish', () =>
    assert.not.ok(rows.some(({ state }) => state === 'RestartRequested')))
  it('let a failed workspace never be told to wait', () => {
    const both = rows.filter(({ state, until }) => state === 'Failed' && until !== undefined)
    assert.equal(both, [])
  })
  it('let whatever has failed run, or be stopped, as soon as the cluster says so', () => {
    for (const { why, given } of rows.filter(({ state }) => state === 'Failed')) {
      const { trouble } = assess({ now: NOW, ...given })
      const failure = trouble && { reason: trouble.reason, cause: trouble.cause, message: '', remedy: '', since: timestamp(NOW) }
      const before = failure ? { failure } : undefined
      const up = assess({ now: NOW, deployment: running, pods: [pod({ main: [live({ ready: true })] })], before })
      assert.equal([up.state, up.trouble], ['Running', undefined], why)
      assert.equal(assess({ now: NOW, deployment: stopped, pods: [], before }).state, 'Stopped', why)
    }
  })
  it('know a cause by its reason', () => assert.is(causeOf('Unschedulable').step, 'Scheduling'))
})
