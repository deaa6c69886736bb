import * as assert from 'uvu/assert'
import { idOfInventoryKey, inventoryKeyOf } from '../../src/agent/gitops/inventory-key.ts'
import { describe } from '../support/suite.ts'

describe('a key of an inventory', (it) => {
  const PAIRS = [
    ['team_web_apps_Deployment', { group: 'apps', kind: 'Deployment', namespace: 'team', name: 'web' }],
    ['_team__Namespace', { group: '', kind: 'Namespace', name: 'team' }],
    [
      '_system__node_rbac.authorization.k8s.io_ClusterRole',
      { group: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'system:node' },
    ],
  ] as const
  for (const [key, id] of PAIRS)
    it(`${key} is read and written as agentk does`, () => {
      assert.is(inventoryKeyOf(id), key)
      assert.equal(idOfInventoryKey(key), id)
    })

  const NONE = ['', 'a', 'a_b', 'a_b_c', 'a__c_d', 'a_x_y_c_d', 'a_b_.._D', 'a_b_x..y_D', 'a_b_Apps_D', 'a_b_.apps_D']
  for (const key of NONE)
    it(`names nothing where it is none: ${JSON.stringify(key)}`, () => assert.is(idOfInventoryKey(key), undefined))
})
