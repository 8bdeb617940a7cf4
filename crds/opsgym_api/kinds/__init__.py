"""The Kubernetes kinds of opsgym and the generator of their CustomResourceDefinitions."""
