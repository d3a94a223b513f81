// Names of nodes, which have the addresses that follow from their numbers.
#include "record.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>

#include "next.h"

int getaddrinfo(const char *name, const char *service, const struct addrinfo *hints, struct addrinfo **result) {
	char text[INET6_ADDRSTRLEN];
	struct addrinfo numeric = hints ? *hints : (struct addrinfo){.ai_flags = AI_V4MAPPED | AI_ADDRCONFIG};
	if (!name || numeric.ai_flags & AI_NUMERICHOST || !lmmc_node_address(name, numeric.ai_family, text, sizeof text))
		return NEXT(getaddrinfo)(name, service, hints, result);
	bool named = numeric.ai_flags & AI_CANONNAME;
	numeric.ai_flags = (numeric.ai_flags & ~AI_ADDRCONFIG) | AI_NUMERICHOST;
	int problem = NEXT(getaddrinfo)(text, service, &numeric, result);
	char *own = problem == 0 && named ? strdup(name) : NULL;
	if (own) { // in the place of the address
		free((*result)->ai_canonname);
		(*result)->ai_canonname = own;
	}
	return problem;
}

// The name that is asked for in the place of a node's.
#define MEANT(name, family) ({ name && lmmc_node_address(name, family, text, sizeof text) ? text : name; })

struct hostent *gethostbyname(const char *name) {
	char text[INET6_ADDRSTRLEN];
	return NEXT(gethostbyname)(MEANT(name, AF_INET));
}

struct hostent *gethostbyname2(const char *name, int family) {
	char text[INET6_ADDRSTRLEN];
	return NEXT(gethostbyname2)(MEANT(name, family), family);
}

int gethostbyname_r(const char *name, struct hostent *to, char *room, size_t size, struct hostent **result, int *problem) {
	char text[INET6_ADDRSTRLEN];
	return NEXT(gethostbyname_r)(MEANT(name, AF_INET), to, room, size, result, problem);
}

int gethostbyname2_r(const char *name, int family, struct hostent *to, char *room, size_t size, struct hostent **result, int *problem) {
	char text[INET6_ADDRSTRLEN];
	return NEXT(gethostbyname2_r)(MEANT(name, family), family, to, room, size, result, problem);
}
