import { groupVerb } from '../verb.ts'
import { create } from './create.ts'
import { kubeconfig } from './kubeconfig.ts'
import { list } from './list.ts'
import { manifest } from './manifest.ts'
import { release } from './release.ts'
import { defineRun } from './run.ts'
import { tokenGroup } from './token.ts'
import { trust } from './trust.ts'

export const verb = groupVerb({
  description: 'Register agents, and run them in the clusters that they are for.',
  examples: [
    ['berth agent create dev --project team-a/config -n team-a', 'register one'],
    ['berth agent manifest dev -n team-a --namespaces web | kubectl apply -f -', 'start it'],
  ],
  parts: [
    { name: 'create', summary: 'register an agent, and print its token once', ...create },
    { name: 'kubeconfig', summary: 'print a kubeconfig for the cluster of an agent', ...kubeconfig },
    { name: 'list', summary: 'list agents, and whether they are connected', ...list },
    { name: 'manifest', summary: 'print what runs an agent in a cluster', ...manifest },
    { name: 'release', summary: "hand over to GitLab's agent what Berth's has applied", ...release },
    { name: 'run', summary: 'run an agent', define: defineRun },
    { name: 'token', summary: 'add, list and revoke tokens', ...tokenGroup },
    { name: 'trust', summary: 'trust GitProjects that took the place of others', ...trust },
  ],
})
