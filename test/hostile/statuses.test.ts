import { is, ok } from 'uvu/assert'
import type { Kube } from '../../src/adapters/kube/index.ts'
import { GitOpsDeployments, type Kind } from '../../src/api/index.ts'
import { makeWidgets } from '../support/builders/hostile.ts'
import { describe } from '../support/suite.ts'
import { eventually, expectObject } from '../support/verbs.ts'
import { bringUp, type Installation, sourceOf } from './installation.ts'

const WIDGETS = 'example.com/v1'
const MANY = 30
/** An object as large as the API takes them; and the most that a status may be sent with. */
const LARGE = 1_300_000
const MOST = 64 * 1024

/** Mallory has a controller of her own, which says of her objects whatever she likes. */
describe('hostile: what objects say of themselves', (it) => {
  let berth: Installation
  let mallory: Kube
  let widgets: Kind
  it.before(async () => {
    berth = await bringUp(['evil'])
    widgets = await makeWidgets(berth.kube)
    mallory = await berth.person('mallory', 'evil', 'edit')
  })
  it.after(() => berth.stop())

  const named = (at: number) => ({ name: `widget-${at}`, namespace: 'evil' })

  it('is told in short, and keeps no deployment from being told of', async () => {
    const files = Array.from({ length: MANY }, (_, at) => [
      `${at}.yaml`,
      { apiVersion: WIDGETS, kind: 'Widget', metadata: named(at) },
    ])
    const { url } = await berth.repository('evil', 'widgets', Object.fromEntries(files))
    await berth.follow('evil', 'widgets', { source: sourceOf(url) })
    for (let at = 0; at < MANY; at++) await expectObject(berth.kube, widgets, named(at), () => true)
    const conditions = [{ type: 'Stalled', status: 'True', message: 'm'.repeat(LARGE) }]
    for (let at = 0; at < MANY; at++)
      await eventually(() => mallory.patch(widgets, named(at), { status: { conditions } }, { subresource: 'status' }))
    const { status } = await expectObject(
      berth.kube,
      GitOpsDeployments,
      { name: 'widgets', namespace: 'evil' },
      ({ status: now }) => now?.resources?.filter(({ health }) => health?.status === 'Degraded').length === MANY,
    )
    is(status?.health?.status, 'Degraded')
    ok(JSON.stringify(status).length < MOST)
  })
})
