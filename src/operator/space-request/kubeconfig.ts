import { Secret } from '../../std/index.ts'

/** How the members of a space reach the API server: what stands in their kubeconfig besides the token. */
export interface ApiEndpoint {
  server: string
  /** Base64 of PEM, as kubeconfigs carry it. Empty: the client's own trust store decides. */
  certificateAuthority: string
  insecureSkipTLSVerify: boolean
}

/** A kubeconfig with one cluster, one user and one context, always written letter by letter the same way: so a changed one shows. */
export function kubeconfigOf(endpoint: ApiEndpoint, namespace: string, token: Secret<string>): Secret<string> {
  return new Secret(`apiVersion: v1
kind: Config
clusters:
  - name: default-cluster
    cluster:
      server: ${JSON.stringify(endpoint.server)}
${trustOf(endpoint)}contexts:
  - name: default-context
    context:
      cluster: default-cluster
      namespace: ${JSON.stringify(namespace)}
      user: namespace-manager
current-context: default-context
users:
  - name: namespace-manager
    user:
      token: ${JSON.stringify(token.reveal())}
`)
}

// Clients refuse a kubeconfig that names a certificate authority and skips its check.
function trustOf({ certificateAuthority, insecureSkipTLSVerify }: ApiEndpoint): string {
  if (insecureSkipTLSVerify) return '      insecure-skip-tls-verify: true\n'
  return certificateAuthority ? `      certificate-authority-data: ${certificateAuthority}\n` : ''
}

/** The token in a kubeconfig that we wrote; `undefined` when it is not where we put it. */
export function tokenIn(kubeconfig: Secret<string>): Secret<string> | undefined {
  const token = /^ {6}token: "([\w.~+/=-]+)"$/m.exec(kubeconfig.reveal())?.[1]
  return token === undefined ? undefined : new Secret(token)
}
