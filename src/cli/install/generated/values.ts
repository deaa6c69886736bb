// Generated from deploy/values.schema.json by hack/update-install-values.ts. Do not edit.

/**
 * What `berth install --values FILE` takes. Everything has a default but the image.
 */
export interface InstallValues {
  /**
   * The image of Berth with its tag or digest, such as registry.example.com/berth:0.1.0.
   */
  image?: string
  /**
   * A small image with a shell and git, that clones into workspaces whose class names none for that. Without it a public one is used.
   */
  workspaceImage?: string
  /**
   * Names of Secrets in Berth's namespace, with which the programs' image is pulled.
   *
   * Items: The name of a Secret of Berth's namespace, such as registry-login.
   */
  imagePullSecrets?: string[]
  /**
   * Where the programs of Berth are (default: berth-system); a namespace of their own.
   */
  namespace?: string
  /**
   * Where people and agents reach this cluster's API, for the kubeconfigs that they get, also of targets that are there. Such as https://api.example.com:6443. Without it these name the address that pods use.
   */
  apiUrl?: string
  /**
   * PEM (-----BEGIN CERTIFICATE-----) of the authorities of your Git servers, for clones in workspaces, where these are not among the known ones. GitProjects have theirs in their Secret.
   */
  gitCa?: string
  /**
   * `legacy` for Kubernetes 1.30 to 1.35, which lacks a kind that the others need (default: current).
   */
  policies?: 'current' | 'legacy'
  /**
   * Let the programs read Secrets and act as service accounts in every namespace, without `berth onboard` (default: false).
   */
  everywhere?: boolean
  /**
   * Who makes the certificates of kas and the proxy: `berth`, or `none` of us, where you or cert-manager fill the Secrets kas-tls and berth-proxy-tls, and you kas-private-api for several kas (default: berth).
   */
  certificates?: 'berth' | 'none'
  /**
   * kas, the server for agents.
   */
  kas?: {
    /**
     * Host names and addresses by which it is reached from outside, for its certificate.
     *
     * Items: A host name or an address: no URL, and no list in a text.
     */
    names?: string[]
    certificateIssuer?: IssuerValues
    service?: ServiceValues
    /**
     * Where pods of workspaces in other clusters open tunnels, such as grpcs://kas.example.com:8150.
     */
    tunnels?: string
    /**
     * Where several kas tell one another which agents they have, such as rediss://redis.example.com:6379. Password and authority are in the Secret kas-redis. Without it each kas asks all others.
     */
    redis?: string
  }
  /**
   * The proxy, by which browsers reach workspaces. There is none without these.
   */
  proxy?: {
    /**
     * The host where people sign in, such as https://sign-in.workspaces.example.com.
     */
    url: string
    /**
     * The identity provider, as its tokens name it, such as https://id.example.com/realms/team.
     */
    oidcIssuer: string
    /**
     * What the provider knows the proxy by. Its secret is the key client-secret of the Secret berth-proxy-oidc.
     */
    oidcClientId: string
    /**
     * As the API server's setting of this name.
     */
    oidcUsernameClaim?: string
    /**
     * As the API server's setting of this name.
     */
    oidcUsernamePrefix?: string
    /**
     * As the API server's setting of this name.
     */
    oidcGroupsClaim?: string
    /**
     * As the API server's setting of this name.
     */
    oidcGroupsPrefix?: string
    /**
     * PEM (-----BEGIN CERTIFICATE-----) of the authorities of the provider, where these are not among the known ones.
     */
    oidcCa?: string
    /**
     * Hosts that it gets a certificate for, such as *.workspaces.example.com. Without them the Secret berth-proxy-tls has to be filled.
     *
     * @minItems 1
     *
     * Items: A host name or an address: no URL, and no list in a text.
     */
    certificateNames?: [string, ...string[]]
    certificateIssuer?: IssuerValues
    service?: ServiceValues
    /**
     * Addresses of an ingress that asks it whether requests may pass, such as 10.42.0.0/16. Nobody may without these.
     *
     * @minItems 1
     *
     * Items: A range of addresses as ADDRESS/BITS, or one address.
     */
    authorizeCallers?: [string, ...string[]]
    /**
     * Let it reach workspaces in other clusters through kas (default: false).
     */
    tunnels?: boolean
    /**
     * Let people into their workspaces over SSH, by a key, at port 22 of the Service (default: false).
     */
    ssh?: boolean
    /**
     * Take tokens of the cluster as passwords over SSH, too (default: false).
     */
    sshTokens?: boolean
    /**
     * Give whoever shows a token a certificate for SSH, for so many hours at most, by `berth ssh-cert`; no longer than sessions last, which is 12 (default: none are given).
     */
    sshCertificatesFor?: number
    /**
     * What people type for SSH, such as ssh.workspaces.example.com, with a port where it is not 22.
     */
    sshAddress?: string
  }
  /**
   * What the Prometheus operator and Grafana read: a PodMonitor, alert rules and dashboards. There is nothing of it without this; `{}` is enough.
   */
  monitoring?: {
    /**
     * Labels by which your Prometheus chooses PodMonitors and PrometheusRules, such as release: kube-prometheus-stack.
     */
    labels?: {
      [k: string]: string
    }
  }
  /**
   * Where the operator and kas send traces of commits, from the push to what is in effect. There are none without it.
   */
  tracing?: {
    /**
     * What takes OTLP over HTTP, such as http://collector.monitoring:4318. Without user, query and fragment.
     */
    endpoint: string
  }
  /**
   * Sizes and places of the programs.
   */
  programs?: {
    operator?: ProgramValues
    kas?: ProgramValues
    proxy?: ProgramValues
    certificates?: ProgramValues
  }
}
/**
 * An issuer of cert-manager that signs the certificate, in the place of Berth's own authority. That of kas must tell its authority (ca.crt).
 */
export interface IssuerValues {
  /**
   * Its name, such as letsencrypt.
   */
  name: string
  /**
   * ClusterIssuer, Issuer (of Berth's namespace), or what another group has (default: ClusterIssuer).
   */
  kind?: string
  /**
   * That of its kind (default: cert-manager.io).
   */
  group?: string
}
/**
 * How it is published: ClusterIP, NodePort or LoadBalancer, with annotations for what makes load balancers.
 */
export interface ServiceValues {
  /**
   * How it is published (default: ClusterIP).
   */
  type?: 'ClusterIP' | 'NodePort' | 'LoadBalancer'
  /**
   * For what makes load balancers and names.
   */
  annotations?: {
    [k: string]: string
  }
}
export interface ProgramValues {
  /**
   * How many of it run (default: 2 of the operator and the proxy, 1 of kas and certificates; 3 are usual for kas).
   */
  replicas?: number
  /**
   * What a pod asks for and may take, as a container has it.
   */
  resources?: {
    /**
     * What a pod asks for.
     */
    requests?: {
      /**
       * A quantity, such as 500m or 1Gi.
       */
      [k: string]: string | number
    }
    /**
     * What a pod may take.
     */
    limits?: {
      /**
       * A quantity, such as 500m or 1Gi.
       */
      [k: string]: string | number
    }
  }
  /**
   * Labels of the nodes that it may run on.
   */
  nodeSelector?: {
    [k: string]: string
  }
  /**
   * Taints of nodes that it bears, as a pod has them.
   */
  tolerations?: {
    key?: string
    operator?: 'Exists' | 'Equal'
    value?: string
    effect?: 'NoSchedule' | 'PreferNoSchedule' | 'NoExecute'
    tolerationSeconds?: number
  }[]
  /**
   * The PriorityClass of its pods, such as system-cluster-critical.
   */
  priorityClassName?: string
  /**
   * Other settings, by their variables in docs/configuration.md; nothing secret, since whoever reads the Deployment reads these.
   */
  env?: {
    [k: string]: string
  }
}
